package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// If the provider used the credential as the name of a member, the name was logged.
func TestLossesThatRepeatTheCredentialAreNotLogged(t *testing.T) {
	c := &call{t: new(Transport), credential: "correct_horse_battery", attempt: new(exchange.Attempt)}
	var dropped translate.Dropped
	dropped.DropNamed("choices[*].", []byte("correct_horse_battery"))
	dropped.DropNamed("", []byte("timings"))
	losses := dropped.Losses()
	assert.Equal(t, "timings", c.redactLosses(losses).String())
	assert.Len(t, losses, 2, "the list of the parser is not changed")
}
