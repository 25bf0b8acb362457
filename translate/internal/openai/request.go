package openai

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"

// AppendSampling appends the members of a request that shape sampling.
func AppendSampling(dst *core.Members, o *core.Options) {
	dst.Option("temperature", &o[core.Temperature])
	dst.Option("top_p", &o[core.TopP])
	dst.Option("top_k", &o[core.TopK])
	dst.Option("presence_penalty", &o[core.PresencePenalty])
	dst.Option("frequency_penalty", &o[core.FrequencyPenalty])
	dst.Option("logit_bias", &o[core.LogitBias])
	dst.Option("seed", &o[core.Seed])
}

// AppendSamples appends the number of answers that the provider is to give, unless the
// number is 1, the default.
func AppendSamples(dst *core.Members, x *core.Translation) {
	if n := x.FanOut(!x.Traits.FanOutN); n > 1 {
		dst.Number("n", n)
	}
}

// AppendStream appends the members that ask for a stream, if the client wants one.
func AppendStream(dst *core.Members, x *core.Translation) {
	if !x.Answer.Stream {
		return
	}
	dst.Raw("stream", []byte("true"))
	if !x.Traits.WithoutUsage {
		dst.Raw("stream_options", []byte(`{"include_usage":true}`))
	}
}
