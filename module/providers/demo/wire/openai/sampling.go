package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// ReadSampling reads the sampling parameters of chat and completions. It reports whether the
// request asks for the usage of a stream.
func ReadSampling(b *wire.Body, r *reply.Request) (includeUsage bool) {
	b.Number("temperature", 0, 2)
	b.Number("top_p", 0, 1)
	b.Number("presence_penalty", -2, 2)
	b.Number("frequency_penalty", -2, 2)
	b.Sub("logit_bias")
	r.N = b.Integer("n", 1, 1)
	if r.N > 128 {
		b.Fail("n", "must be at most 128")
	}
	r.Stops = readStops(b)
	if len(r.Stops) > 4 {
		b.Fail("stop", "must hold at most 4 strings")
	}
	r.Stream = b.Flag("stream")
	options, there := b.Sub("stream_options")
	options.Known("include_usage", "include_obfuscation")
	if there && !r.Stream {
		b.Fail("stream_options", "only allowed when stream is true")
	}
	return options.Flag("include_usage")
}

// readStops reads one string or a list of them.
func readStops(b *wire.Body) []string {
	if wire.Quoted(b.Raw("stop")) {
		return []string{b.Text("stop")}
	}
	return b.Strings("stop")
}
