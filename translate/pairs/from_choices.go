package pairs

import (
	"math"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// What follows reads members that chat and completions requests share.

// readStream keeps how the client wants its answer.
func (x *conversion) readStream(stream, options []byte) {
	x.memory.Stream = isTrue(stream)
	if options == nil || !x.object(options, "stream_options") {
		return
	}
	for x.options.Member() {
		if name := x.options.Name(); string(name) == "include_usage" {
			x.memory.IncludeUsage = isTrue(x.option())
		} else {
			x.losses.AddNamed(translate.Hint, "stream_options.", name)
			x.options.Skip()
		}
	}
}

// readStops keeps the stop texts of a chat or completions request for the way
// back, and calls each with them.
func (x *conversion) readStops(raw []byte, each func(path string, raw []byte)) {
	if isString(raw) {
		x.memory.Stops = append(x.memory.Stops, textOf(raw))
		each("stop", raw)
		return
	}
	if raw == nil {
		return
	}
	x.options = jsonscan.Again(raw)
	x.options.EnterArray()
	for i := 0; x.fault == nil && x.options.Element(); i++ {
		text := x.options.Skip()
		x.memory.Stops = append(x.memory.Stops, textOf(text))
		each("stop["+strconv.Itoa(i)+"]", text)
	}
}

// wantLogprobs keeps that the client wants log probabilities, and how many
// alternatives of each token: the raw number, none where there is no number.
func (x *conversion) wantLogprobs(raw []byte, member string) int64 {
	k, ok := integer(raw)
	if raw != nil && (!ok || k < 0 || k > math.MaxInt32) {
		x.invalid(member, "must be an integer of at least 0")
		return 0
	}
	x.memory.Logprobs, x.memory.TopLogprobs = true, int(k)
	return k
}
