package core

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxSamples is the number of answers that the formats allow in one call.
const maxSamples = 128

// FanOut decides how many calls give the Samples of each prompt: one call if the
// provider can give several answers (native) and there is one prompt, otherwise one
// call for each. It returns the number of answers to ask for in a call. It refuses
// requests that would become more calls than the provider's traits allow; the
// refusal names the prompts if they alone are too many, otherwise the samples.
func (x *Translation) FanOut(native bool) (ask int64) {
	samples := x.Options[Samples]
	n, ok := jsonscan.Integer(samples.Raw)
	if !ok {
		n = 1
	}
	if x.Prompts == 1 && native {
		return x.inOneCall(n)
	}
	most := x.Traits.FanOut()
	switch prompts := int64(x.Prompts); {
	case prompts > most:
		x.refuseCalls(x.rows.concepts[Prompts], shownPrompts(x.Prompts), most)
	case n > most/prompts:
		x.refuseCalls(samples.Row, x.shownSamples(n), most)
	default:
		x.Samples = int(n)
	}
	return 1
}

// inOneCall makes one call of a request for n answers, and returns n.
func (x *Translation) inOneCall(n int64) int64 {
	if n > maxSamples {
		x.InvalidOption(Samples, "must be at most "+strconv.Itoa(maxSamples))
	}
	if n > 1 {
		x.Answer.Choices = int(n)
	}
	return n
}

// refuseCalls refuses the field that asks for too many calls.
func (x *Translation) refuseCalls(r *Row, shown string, most int64) {
	fault := x.Info.RefuseCalls(x.To.Format, r.Path, shown, most)
	fault.Trait = OneCall.name()
	x.Fail(fault)
}

func (x *Translation) shownSamples(n int64) string {
	shown := strconv.FormatInt(n, 10)
	if x.Prompts > 1 {
		shown += " for " + shownPrompts(x.Prompts)
	}
	return shown
}

func shownPrompts(n int) string { return strconv.Itoa(n) + " prompts" }
