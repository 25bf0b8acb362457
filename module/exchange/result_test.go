package exchange_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// A second call of an attempt reset a list of fields, which had to name every field.
func TestSentAndPartsSurviveAnotherCallOfAnAttempt(t *testing.T) {
	c := &exchange.Conduit{Attempt: exchange.Attempt{Provider: "p", Model: "m"}}
	attempt, result := c.Begin()
	assert.False(t, result.Sent)
	result.Fail(fault.Unreachable(nil))
	result.Sent, result.Status, result.Head.RequestID = true, 503, "up-1"
	parts := []exchange.Part{{Result: new(exchange.Result), Share: 1}}
	result.Parts = parts
	again, result := c.Begin()
	assert.Same(t, attempt, again)
	assert.Equal(t, exchange.Result{Sent: true, Parts: parts}, *result)
}
