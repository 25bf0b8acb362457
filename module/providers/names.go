package providers

import "strings"

// tuned returns the model of which a model of OpenAI was fine-tuned: gpt-4.1-mini-2025-04-14 of
// ft:gpt-4.1-mini-2025-04-14:organization::id.
func tuned(model string) string {
	base, ok := strings.CutPrefix(model, "ft:")
	if !ok {
		return model
	}
	base, _, _ = strings.Cut(base, ":")
	return base
}

// routed returns the model of a name with a variant of OpenRouter, which chooses among the hosts of
// the model: qwen/qwen3-coder of qwen/qwen3-coder:free.
func routed(model string) string {
	base, _, _ := strings.Cut(model, ":")
	return base
}

// resource returns the id of a model of Google behind its resource name, in which lists have it:
// gemini-2.5-pro of models/gemini-2.5-pro, or of publishers/google/models/gemini-2.5-pro.
func resource(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }
