package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/turn"
)

// The members of an answer, which are those of an event of a stream.
var (
	answers     = members.New("")
	candidates  = answers.Maybe(members.Array, "candidates")
	usage       = answers.Maybe(members.Object, "usageMetadata")
	model       = answers.Maybe(members.String, "modelVersion")
	failure     = answers.Maybe(members.Any, "error")
	counted     = answers.Maybe(members.Number, "totalTokens") // of a count of tokens
	_           = answers.Skip("responseId createTime modelStatus promptTokensDetails cachedContentTokenCount")
	feedback    = answers.Inside("promptFeedback.", "promptFeedback")
	blockReason = feedback.Maybe(members.String, "blockReason")
	blockText   = feedback.Maybe(members.String, "blockReasonMessage")
	_           = feedback.Skip("safetyRatings")
)

// The members of a candidate.
var (
	candidate   = members.New("candidates[*].")
	number      = candidate.Maybe(members.Number, "index")
	reason      = candidate.Maybe(members.String, "finishReason")
	explanation = candidate.Maybe(members.String, "finishMessage")
	_           = candidate.Skip("safetyRatings tokenCount avgLogprobs")
	grounding   = candidate.Maybe(members.Object, "groundingMetadata")
	_           = candidate.Lost("citationMetadata urlContextMetadata logprobsResult")
	content     = candidate.Inside("candidates[*].content.", "content")
	parts       = content.Must(members.Array, "parts")
	_           = content.Skip("role")
)

// The members of a part, and of the call in it.
var (
	part      = members.New("candidates[*].content.parts[*].")
	text      = part.Must(members.String, "text")
	thought   = part.Maybe(members.Bool, "thought")
	signature = part.Maybe(members.String, "thoughtSignature")
	_         = part.Skip("videoMetadata mediaResolution partMetadata")
	_         = part.Lost("inlineData fileData executableCode codeExecutionResult toolCall toolResponse functionResponse")
	call      = part.MustInside("candidates[*].content.parts[*].functionCall.", "functionCall")
	callID    = call.Maybe(members.String, "id")
	callName  = call.Must(members.String, "name")
	arguments = call.Must(members.Object, "args")
	_         = call.Must(0, "partialArgs") // arguments in pieces, for which no request asks
	_         = call.Lost("willContinue")
)

// words are the words of the format for what all answers state.
var words = turn.Words{
	// The prompt includes what was read from a cache, but not the results of tools that the
	// provider itself has called; the candidates do not include thoughts.
	Usage: token.NewRows(
		token.Row{Path: "promptTokenCount", Is: token.Prompt},
		token.Row{Path: "toolUsePromptTokenCount", Is: token.FurtherPrompt},
		token.Row{Path: "cachedContentTokenCount", Is: token.CacheRead},
		token.Row{Path: "candidatesTokenCount", Is: token.Output},
		token.Row{Path: "thoughtsTokenCount", Is: token.FurtherReasoning},
		token.Row{Path: "serviceTier", Is: token.Tier},
		token.Row{Path: "trafficType", Is: token.Tier}, // of Vertex
		token.Row{Path: "billedToolCalls", Is: token.Searches, Count: countBilled},
	),
	Reason: "candidates[*].finishReason",
	Reasons: map[string]event.FinishReason{
		"STOP": event.FinishStop, "MAX_TOKENS": event.FinishLength, "CONTINUATION": event.FinishPaused,
		"SAFETY": event.FinishFiltered, "RECITATION": event.FinishFiltered, "BLOCKLIST": event.FinishFiltered,
		"PROHIBITED_CONTENT": event.FinishFiltered, "SPII": event.FinishFiltered, "LANGUAGE": event.FinishFiltered,
		"IMAGE_SAFETY": event.FinishFiltered, "IMAGE_PROHIBITED_CONTENT": event.FinishFiltered, "IMAGE_RECITATION": event.FinishFiltered,
		"MODEL_ARMOR": event.FinishFiltered,
	},
	Parts: turn.Parts{Table: answers, Model: model, Usage: usage, Failure: failure, Dialect: &Dialect},
}

// failures are the reasons of turns that have failed: the model has written a call that cannot
// be made. They must not look like the end of a turn.
var failures = map[string]bool{
	"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "TOO_MANY_TOOL_CALLS": true, "MISSING_THOUGHT_SIGNATURE": true,
}
