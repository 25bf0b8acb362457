package fault

// A provider may refuse a request for its content, which another provider may accept.

// policyWords are the types and codes of providers for content that they refuse.
var policyWords = map[string]bool{
	"content_filter":                 true, // Azure, Moonshot
	"content_policy_violation":       true, // OpenAI
	"moderation_blocked":             true, // OpenAI
	"content_filter_error":           true, // proxies
	"bio_policy":                     true, // OpenAI, responses
	"cyber_policy":                   true, // OpenAI, responses
	"misalignment_policy_violation":  true, // OpenAI, responses
	"image_content_policy_violation": true, // OpenAI, responses
	"data_inspection_failed":         true, // Model Studio
	"DataInspectionFailed":           true, // Model Studio
}

// policySentences are parts of the messages of providers for content that they refuse, in
// lower case.
var policySentences = []string{
	"content filtering policy",               // Anthropic: Output blocked by content filtering policy
	"content management policy",              // Azure: The response was filtered due to the prompt triggering Azure OpenAI's content management policy
	"rejected as a result of our safety",     // OpenAI: Your request was rejected as a result of our safety system
	"violating our usage policy",             // OpenAI: Invalid prompt: your prompt was flagged as potentially violating our usage policy
	"requires moderation on",                 // OpenRouter: The model requires moderation on OpenAI. Your input was flagged for "violence"
	"content violates usage guidelines",      // xAI
	"violates our content policy",            // xAI, Together
	"content exists risk",                    // DeepSeek
	"may contain inappropriate content",      // Model Studio: Input data may contain inappropriate content
	"was rejected because it was considered", // Moonshot: The request was rejected because it was considered high risk
	"blocked due to safety",                  // Gemini
}

// violatesPolicy reports whether an error of the row means that the provider refuses the
// content of the request.
func (d detail) violatesPolicy(row statusRow) bool {
	switch row.kind {
	case Invalid, Forbidden, Internal, BadGateway:
		return policyWords[d.code] || policyWords[d.kind] || containsAny(d.message, policySentences...)
	}
	return false
}
