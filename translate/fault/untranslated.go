package fault

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// Untranslatable refuses a request whose format no target of the model speaks
// and that cannot be carried over to one that a target does speak.
func Untranslatable(client translate.Format, model string, upstream translate.Format) *Fault {
	return &Fault{
		Kind: Invalid,
		Message: "model: " + string(client) + " requests cannot be translated for model '" + model +
			"' (upstream format " + string(upstream) + ")",
		Param: "model", Code: CodeUntranslatable,
	}
}

// NoTokenCount refuses to count tokens for a model without a provider that can.
func NoTokenCount(model string) *Fault {
	return &Fault{Kind: NotFound, Message: "token counting is not available for model '" + model + "'", Trait: "count_tokens"}
}

// CodeUntranslatable is the code of chat and completions bodies that refuse a
// request the provider's format has no words for.
const CodeUntranslatable = "unsupported_for_upstream"

// LateSystem refuses a system turn that is not the first, at path. The words
// are those of the vendor of the messages format: Claude Code, which sends such
// turns, sends the conversation again without them.
func LateSystem(path string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": role 'system' is not supported on this model",
		Param: path, Code: CodeUntranslatable, Trait: "mid_system",
	}
}
