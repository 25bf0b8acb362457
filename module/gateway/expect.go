package gateway

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// expect estimates what a request may use: its prompt, as often as it is sent,
// and all that its answers may have. A count of tokens uses none.
func expect(ex *exchange.Exchange, m *model) (b bill) {
	if ex.Operation == translate.CountTokens {
		return bill{}
	}
	v, first := &ex.View, m.targets[0]
	most := v.MaxTokens
	if most == 0 {
		most = first.traitsOf(v.Model).MaxTokens()
		b.assumed = most
	}
	most = timesAtMost(timesAtMost(most, v.Answers), v.Prompts)
	b.prompt = promptTokens(len(ex.Body), v.Files)
	if v.Answers > 1 && first.fansOut(ex) {
		b.prompt = timesAtMost(b.prompt, v.Answers)
	}
	b.reserved = b.prompt + min(most, math.MaxInt64-b.prompt)
	return b
}

// fansOut reports whether each of several answers is a call of its own, with the
// whole prompt.
func (t target) fansOut(ex *exchange.Exchange) bool {
	format, _ := t.provider.speakFor(ex.Format)
	return format != ex.Format && (format == translate.Messages || t.traitsOf(ex.View.Model).FanOutN || ex.View.Prompts > 1)
}

// timesAtMost multiplies a number that is not negative, up to the largest there
// is; 0 times stand for once.
func timesAtMost(n, times int64) int64 {
	times = max(1, times)
	if n > math.MaxInt64/times {
		return math.MaxInt64
	}
	return n * times
}

// promptTokens estimates the tokens of a body by its length: files cost something
// else.
func promptTokens(length int, files translate.FileCosts) int64 {
	return (int64(length)-files.Bytes)/messages.DefaultBytesPerToken + files.Tokens + 1
}
