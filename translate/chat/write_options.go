package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// writeOptions writes what bounds and shapes the answer.
func (w *writer) writeOptions() {
	if n, ok := w.x.MaxTokens(); ok {
		w.number(w.maxTokensField(), n)
	}
	if n := w.x.FanOut(!w.x.Traits.FanOutN); n > 1 {
		w.number("n", n)
	}
	w.writeSampling()
	if len(w.x.Memory.Stops) > 0 {
		w.option("stop", core.Stops)
	}
	w.writeStream()
	w.writeLogprobs()
}

// writeSampling writes what shapes sampling.
func (w *writer) writeSampling() {
	w.option("temperature", core.Temperature)
	w.option("top_p", core.TopP)
	w.option("top_k", core.TopK)
	w.option("presence_penalty", core.PresencePenalty)
	w.option("frequency_penalty", core.FrequencyPenalty)
	w.option("logit_bias", core.LogitBias)
	w.option("seed", core.Seed)
}

func (w *writer) writeStream() {
	if !w.x.Memory.Stream {
		return
	}
	w.field("stream", []byte("true"))
	if !w.x.Traits.WithoutUsage {
		w.field("stream_options", []byte(`{"include_usage":true}`))
	}
}

// writeLogprobs asks for as many alternatives of each token as the client wants.
func (w *writer) writeLogprobs() {
	if most, ok := w.x.Logprobs(); ok {
		w.field("logprobs", []byte("true"))
		w.number("top_logprobs", most)
	}
}

// option writes an option under a name if the request has it.
func (w *writer) option(name string, c core.Concept) {
	if raw := w.x.Options.Raw(c); raw != nil {
		w.field(name, raw)
	}
}

func (w *writer) maxTokensField() string {
	if w.x.Traits.MaxCompletionTokens {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// writeFormat asks for an answer that follows a schema. It is strict, since the
// client was promised that the schema is followed; one that cannot be then fails
// loudly.
func (w *writer) writeFormat() {
	if schema := w.x.Options.Raw(core.Schema); schema != nil {
		w.name("response_format")
		w.out = append(w.out, `{"type":"json_schema","json_schema":{"name":"response","schema":`...)
		w.out = append(w.out, schema...)
		w.out = append(w.out, `,"strict":true}}`...)
	}
}

// maxUser is the longest id of an end user that chat providers take, in bytes.
const maxUser = 64

// writeUser writes the id of the end user into the field that the provider has,
// or its digest where the id is too long.
func (w *writer) writeUser() {
	if !w.x.Options.Has(core.EndUser) {
		return
	}
	field := "user"
	if w.x.Traits.UserFieldFor(translate.Chat) == translate.UserFieldSafetyIdentifier {
		field = "safety_identifier"
	}
	w.name(field)
	w.out = jsonscan.AppendString(w.out, w.x.EndUser(maxUser))
}

func (w *writer) writeTier() {
	switch w.x.Options.OneOf(core.TierAuto, core.TierStandard) {
	case core.TierAuto:
		w.word("service_tier", "auto")
	case core.TierStandard:
		w.word("service_tier", "default")
	}
}

// writePrefill says that the last message is to be continued, where a server asks
// for that.
func (w *writer) writePrefill() {
	if w.messages.role == "assistant" && w.x.Traits.Prefill == translate.PrefillVLLM {
		w.field("continue_final_message", []byte("true"))
		w.field("add_generation_prompt", []byte("false"))
	}
}
