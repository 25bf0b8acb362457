package meter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A refusal behind keep-alives once cost an estimate of the input, as if a part of an answer
// had been sent.
func TestUsedTokensOfEveryEnd(t *testing.T) {
	usage := token.Usage{Counts: token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 4, Answer: 5, Reasoning: 3}, Known: true}
	overloaded := formats.Of(translate.Messages).Errors.ReadEvent([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`))
	const reserved = 4114
	for name, c := range map[string]struct {
		result exchange.Result
		sent   bool
		want   int64
	}{
		"a whole answer":                    {exchange.Result{State: exchange.Finished, Usage: usage, Status: 200}, true, 15},
		"a whole answer without usage":      {exchange.Result{State: exchange.Finished, Status: 200}, true, reserved},
		"a whole answer with a usage of 0":  {exchange.Result{State: exchange.Finished, Status: 200, Usage: token.Usage{Known: true}}, true, reserved},
		"a usage that is impossible":        {exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{Fresh: -5, Answer: -5}, Known: true}}, true, reserved},
		"a usage that is absurd":            {exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{Answer: 1 << 53}, Known: true}}, true, reserved},
		"a cut answer":                      {exchange.Result{Usage: usage, Status: 200}, true, reserved},
		"a cut answer that has used more":   {exchange.Result{Usage: token.Usage{Counts: token.Counts{Fresh: 5000}, Known: true}, Status: 200}, true, 5000},
		"a refusal of the provider":         {exchange.Result{Sent: true, Status: 400, Fault: fault.Unusable(nil)}, false, 0},
		"a redirect":                        {exchange.Result{Sent: true, Status: 302, Fault: fault.Unusable(nil)}, false, 0},
		"a provider that cannot be reached": {exchange.Result{Fault: fault.Unreachable(nil)}, false, 0},
		"a provider that hangs up":          {exchange.Result{Sent: true, Fault: fault.Unreachable(nil)}, false, reserved},
		"a provider that is silent":         {exchange.Result{Sent: true, Fault: fault.UpstreamTimeout(nil)}, false, reserved},
		"a client that leaves at once":      {exchange.Result{}, false, 0},
		"a client that leaves":              {exchange.Result{Sent: true, Fault: fault.InternalError(nil)}, false, reserved},
		"one that leaves before content":    {exchange.Result{Sent: true, Status: 200, Fault: fault.InternalError(nil)}, false, reserved},
		"a request that no target can take": {exchange.Result{State: exchange.Unasked, Fault: fault.Unusable(nil)}, false, 0},
		"a 200 without a valid answer":      {exchange.Result{Sent: true, Status: 200, Fault: fault.Unusable(nil)}, false, 0},
		"a 200 that is an error":            {exchange.Result{Sent: true, Status: 200, Usage: usage, Fault: overloaded}, false, 15},
		"a 200 that breaks off":             {exchange.Result{Sent: true, Status: 200, Fault: fault.Truncated(nil)}, false, reserved},
	} {
		m := Meter{Estimate: Estimate{Prompt: 18, Reserved: reserved}}
		if c.sent {
			c.result.Times.Began = time.Now()
		}
		held := new(settlement)
		m.reservation = held
		m.AddFailed(&exchange.Exchange{Course: exchange.Course{Result: &exchange.Result{Usage: token.Usage{Counts: token.Counts{Fresh: 7}, Known: true}}}})
		ex := &exchange.Exchange{Course: exchange.Course{Attempt: new(exchange.Attempt), Result: &c.result}}
		assert.Equal(t, c.want, m.charge(ex, call.cost), name)
		m.Settle(ex, exchange.Answered)
		assert.Equal(t, c.want+7, held.used[0].Tokens, "with an earlier attempt: %s", name)
		ex.Course.AnswerItself()
		assert.Zero(t, m.charge(ex, call.cost), "no attempt")
	}
}
