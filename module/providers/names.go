package providers

import (
	"regexp"
	"strings"
)

// tuned returns the model of which a model of OpenAI was fine-tuned: gpt-4.1-mini-2025-04-14 of
// ft:gpt-4.1-mini-2025-04-14:organization::id.
func tuned(model string) string {
	const prefix = "ft:"
	if len(model) < len(prefix) || !strings.EqualFold(model[:len(prefix)], prefix) {
		return model
	}
	base, _, _ := strings.Cut(model[len(prefix):], ":")
	return base
}

// routed returns the model of a name with a variant of OpenRouter, which chooses among the hosts of
// the model, or with the date of a snapshot: qwen/qwen3-coder of qwen/qwen3-coder:free, and
// openai/gpt-5 of openai/gpt-5-2025-08-07.
func routed(model string) string {
	base, _, _ := strings.Cut(model, ":")
	return snapshot.ReplaceAllString(base, "")
}

var snapshot = regexp.MustCompile(`-20\d\d-?\d\d-?\d\d$`)

// free is the variant of the models of OpenRouter that cost nothing, and its name in the tables.
const free = ":free"

// pricedAs returns the name in the tables with the price of a variant of OpenRouter. A name that has
// another variant as well, or a preset of the account, may cost something.
func pricedAs(model string) string {
	base, variant, _ := strings.Cut(model, ":")
	if ":"+variant == free && !strings.Contains(base, "@") {
		return free
	}
	return routed(model)
}

// resource returns the id of a model of Google behind its resource name, in which lists have it:
// gemini-2.5-pro of models/gemini-2.5-pro, or of publishers/google/models/gemini-2.5-pro.
func resource(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }
