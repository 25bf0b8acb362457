package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// writeOptions writes the options that bound and shape the answer.
func (w *writer) writeOptions() {
	if n, ok := w.x.MaxTokens(); ok {
		w.out.Number(w.maxTokensField(), n)
	}
	openai.AppendSamples(&w.out, w.x)
	openai.AppendSampling(&w.out, &w.x.Options)
	if len(w.x.Answer.Stops) > 0 {
		w.out.Option("stop", &w.x.Options[core.Stops])
	}
	openai.AppendStream(&w.out, w.x)
	w.writeLogprobs()
}

// writeLogprobs asks for the alternatives of each token, if the client does.
func (w *writer) writeLogprobs() {
	if most, ok := w.x.Logprobs(); ok {
		w.out.Raw("logprobs", []byte("true"))
		w.out.Number("top_logprobs", most)
	}
}

func (w *writer) maxTokensField() string {
	if w.x.Traits.MaxCompletionTokens {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// writeFormat asks for the format of the answer.
func (w *writer) writeFormat() {
	o := &w.x.Options
	switch {
	case o.Has(core.Schema):
		w.out.Name("response_format")
		w.out = append(w.out, `{"type":"json_schema","json_schema":{`...)
		w.out = append(parts.AppendSchema(w.out, o), "}}"...)
	case o.Has(core.FormatObject):
		w.out.Raw("response_format", []byte(`{"type":"json_object"}`))
	}
}

// writePrefill writes the fields with which some servers are asked to continue the last
// message.
func (w *writer) writePrefill() {
	if w.messages.role == "assistant" && w.x.Traits.Prefill == trait.PrefillVLLM {
		w.out.Raw("continue_final_message", []byte("true"))
		w.out.Raw("add_generation_prompt", []byte("false"))
	}
}
