package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestMergedResultIsThatOfTheFailedCallOrHasTheFirstHeaders(t *testing.T) {
	subcallOf := func(r exchange.Result) *subcall { return &subcall{call: &call{result: &r}} }
	whole := exchange.Result{State: exchange.Content, Sent: true}
	first := exchange.Result{Status: 200, RequestID: "first"}
	failed := exchange.Result{State: exchange.Broken, Status: 503, Fault: translate.Unusable(nil)}
	assert.Equal(t, exchange.Result{State: exchange.Content, Sent: true, Status: 200, RequestID: "first"},
		mergeResults(whole, subcallOf(first), nil))
	assert.Equal(t, failed, mergeResults(whole, subcallOf(first), subcallOf(failed)))
}
