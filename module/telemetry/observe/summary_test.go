package observe

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

func TestSummaries(t *testing.T) {
	call := func(provider string, end exchange.CallEnd, status int) exchange.CallSummary {
		return exchange.CallSummary{Provider: provider, Model: "m", End: end, Status: status}
	}
	quoted := &fault.Fault{Message: "my secret prompt", Quoted: true}
	for _, c := range []struct {
		outcome exchange.Outcome
		fault   *fault.Fault
		calls   []exchange.CallSummary
		want    string
	}{
		{exchange.Answered, nil, []exchange.CallSummary{call("a", "answered", 200)}, "answered by a/m"},
		{exchange.Answered, nil, []exchange.CallSummary{call("a", "overloaded", 529), call("b", "timeout", 0), call("c", "answered", 200)},
			"answered by c/m after a/m was overloaded (529), b/m timed out"},
		{exchange.Answered, nil, []exchange.CallSummary{call("a", "timeout", 0), call("b", "cached", 200)}, "answered by the cache for b/m after a/m timed out"},
		{exchange.Answered, nil, []exchange.CallSummary{call("a", "refused", 404)}, "answered by the gateway itself after a/m refused the request (404)"},
		{exchange.Answered, nil, nil, "answered by the gateway itself"},
		{exchange.Failed, quoted, []exchange.CallSummary{call("a", "rate_limited", 429), call("b", "unreachable", 0)},
			"failed: a/m refused by its rate limit (429), b/m was unreachable"},
		{exchange.Failed, quoted, []exchange.CallSummary{call("a", "credential_refused", 401), call("b", "internal", 500)},
			"failed: a/m refused the credential (401), b/m failed (500)"},
		{exchange.Cut, quoted, []exchange.CallSummary{call("a", "forbidden", 403), call("b", "cut", 200)}, "cut: a/m denied access (403), b/m broke off"},
		{exchange.ClientClosed, nil, []exchange.CallSummary{call("a", "client_closed", 200)}, "the client left while a/m answered"},
		{exchange.ClientClosed, nil, []exchange.CallSummary{call("a", "timeout", 0)}, "the client left after a/m timed out"},
		{exchange.ClientClosed, nil, nil, "the client left"},
		{exchange.Refused, fault.UnknownModel("nothing"), nil, "refused: " + fault.UnknownModel("nothing").LogMessage()},
		{exchange.Failed, quoted, nil, "failed: the upstream's own words, 16 bytes"},
		{exchange.Failed, nil, nil, "failed"},
	} {
		ex := &exchange.Exchange{Delivery: exchange.Delivery{Outcome: c.outcome, Fault: c.fault}, Course: exchange.Course{Calls: c.calls}}
		assert.Equal(t, c.want, summaryOf(ex))
		ex.Course.PassedOver = []exchange.PassedOver{{Provider: "x", Model: "m", Reason: exchange.Rests}, {Provider: "y", Model: "m", Reason: exchange.Busy}}
		assert.Equal(t, c.want+", while x/m rests, y/m has too many requests at once", summaryOf(ex))
	}
}
