package gateway

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// expectedTokens estimates the tokens that a request may use: its prompt, once for each
// call, and the longest answers that it allows. Requests that count tokens use none.
func expectedTokens(ex *exchange.Exchange, m *model) (e meter.Estimate) {
	if ex.Operation == translate.CountTokens {
		return meter.Estimate{}
	}
	v, first := &ex.View, m.targets[0]
	most := v.MaxTokens
	if most == 0 {
		most = first.traitsOf(v.Model).MaxTokens()
		e.Assumed = most
	}
	most = timesAtMost(timesAtMost(most, v.Answers), v.Prompts)
	e.Prompt = meter.PromptTokens(len(ex.Body), v.Files)
	if v.Answers > 1 && first.fansOut(ex) {
		e.Prompt = timesAtMost(e.Prompt, v.Answers)
	}
	e.Reserved = e.Prompt + min(most, math.MaxInt64-e.Prompt)
	return e
}

// fansOut reports whether each of several answers needs a call of its own, which
// sends the whole prompt.
func (t target) fansOut(ex *exchange.Exchange) bool {
	spoken := t.provider.speakFor(ex.Format)
	if spoken == nil || spoken == ex.Format {
		return false
	}
	return spoken.Provider.OneAnswer || t.traitsOf(ex.View.Model).FanOutN || ex.View.Prompts > 1
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
