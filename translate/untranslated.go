package translate

// Untranslatable refuses a request whose format no target of the model speaks
// and that cannot be carried over to one that a target does speak.
func Untranslatable(client Format, model string, upstream Format) *Fault {
	return &Fault{
		Kind: Invalid,
		Message: "model: " + string(client) + " requests cannot be translated for model '" + model +
			"' (upstream format " + string(upstream) + ")",
		Param: "model", Code: "unsupported_for_upstream",
	}
}

// NoTokenCount refuses to count tokens for a model without a provider that can.
func NoTokenCount(model string) *Fault {
	return &Fault{Kind: NotFound, Message: "token counting is not available for model '" + model + "'", Trait: "count_tokens"}
}
