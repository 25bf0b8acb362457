package limiting

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Expected estimates the tokens that a request may use: its prompt, once for each
// call, and the longest answers that it allows. Requests that count tokens use none.
func Expected(ex *exchange.Exchange, m *catalog.Model) (e meter.Estimate) {
	if ex.Operation == translate.CountTokens {
		return meter.Estimate{}
	}
	v, first := &ex.View, m.Targets[0]
	most := v.MaxTokens
	if most == 0 {
		most = first.TraitsOf(v.Model).MaxTokens()
		e.Assumed = most
	}
	most = timesAtMost(timesAtMost(most, v.Answers), v.Prompts)
	e.Prompt = meter.PromptTokens(len(ex.Body), v.Files)
	if v.Answers > 1 && fansOut(first, ex) {
		e.Prompt = timesAtMost(e.Prompt, v.Answers)
	}
	e.Reserved = e.Prompt + min(most, math.MaxInt64-e.Prompt)
	return e
}

// fansOut reports whether each of several answers needs a call of its own, which
// sends the whole prompt.
func fansOut(t catalog.Target, ex *exchange.Exchange) bool {
	spoken := t.Provider.SpeakFor(ex.Format)
	if spoken == nil || spoken == ex.Format {
		return false
	}
	return spoken.Provider.OneAnswer || t.TraitsOf(ex.View.Model).FanOutN || ex.View.Prompts > 1
}

// timesAtMost returns n times times, at most math.MaxInt64. n is not negative; 0
// times count as 1.
func timesAtMost(n, times int64) int64 {
	times = max(1, times)
	if n > math.MaxInt64/times {
		return math.MaxInt64
	}
	return n * times
}
