package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// maxNativeN is how many answers a provider may be asked for in one call: as many
// as the chat and completions formats allow.
const maxNativeN = 128

// fanOut finds out who gives the n answers to each prompt: the provider in one
// call, where that is one prompt and it can, else a call each. It returns the n
// to ask for. More calls than the provider may be asked for are refused: by the
// prompts where they are too many by themselves, else by n.
func (x *conversion) fanOut(raw []byte) (ask int64) {
	n, ok := integer(raw)
	if !ok {
		n = 1
	}
	if x.prompts == 1 && x.nativeN() {
		if n > maxNativeN {
			x.invalid("n", "must be at most "+strconv.Itoa(maxNativeN))
		}
		return n
	}
	most := x.traits.FanOut()
	switch prompts := int64(x.prompts); {
	case x.fault != nil:
	case prompts > most:
		x.decide(&oneCall, x.info.RefuseCalls(x.to, "prompt", strconv.Itoa(x.prompts)+" prompts", most))
	case n > most/prompts:
		x.decide(&oneCall, x.info.RefuseCalls(x.to, "n", shownSamples(n, x.prompts), most))
	default:
		x.samples = int(n)
	}
	return 1
}

// nativeN reports whether the provider gives several answers in one call.
func (x *conversion) nativeN() bool { return x.to != translate.Messages && !x.traits.FanOutN }

// writeN asks for n answers; one is what every provider gives unasked.
func (x *conversion) writeN(n int64) {
	if n > 1 {
		x.name("n")
		x.out = strconv.AppendInt(x.out, n, 10)
		x.memory.Choices = int(n)
	}
}

func shownSamples(n int64, prompts int) string {
	shown := strconv.FormatInt(n, 10)
	if prompts > 1 {
		shown += " for " + strconv.Itoa(prompts) + " prompts"
	}
	return shown
}
