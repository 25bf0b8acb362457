package answer

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members of an answer, which are those of an event of a stream.
var (
	answers     = members.New("")
	candidates  = answers.Maybe(members.Array, "candidates")
	usage       = answers.Maybe(members.Object, "usageMetadata")
	model       = answers.Maybe(members.String, "modelVersion")
	failure     = answers.Maybe(members.Any, "error")
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

const (
	inPart    = "candidates[*].content.parts[*]."
	lostMedia = inPart + "inlineData"
	lostLink  = inPart + "fileData"
)

// The members of a part, and of the call in it.
var (
	part      = members.NewContent(inPart)
	text      = part.Must(members.String, "text")
	thought   = part.Maybe(members.Bool, "thought")
	signature = part.Maybe(members.String, "thoughtSignature")
	_         = part.Skip("videoMetadata mediaResolution partMetadata")
	_         = part.Lost("executableCode codeExecutionResult toolCall toolResponse functionResponse")
	inline    = part.Inside(inPart+"inlineData.", "inlineData")
	mediaType = inline.Maybe(members.String, "mimeType")
	mediaData = inline.Maybe(members.String, "data")
	_         = inline.Skip("displayName")
	linked    = part.Inside(lostLink+".", "fileData")
	linkType  = linked.Maybe(members.String, "mimeType")
	link      = linked.Maybe(members.String, "fileUri")
	_         = linked.Skip("displayName")
	call      = part.MustInside(inPart+"functionCall.", "functionCall")
	callID    = call.Maybe(members.String, "id")
	callName  = call.Must(members.String, "name")
	arguments = call.Must(members.Object, "args")
	_         = call.Must(0, "partialArgs") // arguments in pieces, for which no request asks
	_         = call.Lost("willContinue")
)

// words are the words of the format for what all answers state.
var words = singleanswer.Words{
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
		token.Row{Path: "promptTokensDetails", Is: token.ImageInput, List: &ofImages},
		token.Row{Path: "cacheTokensDetails", Is: token.ImageCacheRead, List: &ofImages},
		token.Row{Path: "candidatesTokensDetails", Is: token.ImageOutput, List: &ofImages},
		token.Row{Path: "promptTokensDetails", Is: token.AudioInput, List: &ofAudio},
		token.Row{Path: "cacheTokensDetails", Is: token.AudioCacheRead, List: &ofAudio},
		token.Row{Path: "candidatesTokensDetails", Is: token.AudioOutput, List: &ofAudio},
		token.Row{Path: "billedToolCalls", Is: token.Searches, List: &billedSearches},
	),
	Reason: "candidates[*].finishReason",
}

// stream describes the streams, whose events are parts of the JSON answer.
var stream = singleanswer.Parts{Table: answers, Model: model, Usage: usage, Tier: "serviceTier", Failure: failure, Dialect: &Dialect}

// ofImages and ofAudio are the tokens of a medium in a list of those of each modality. Some models
// charge them at prices of their own.
var ofImages, ofAudio = tokensOf("IMAGE"), tokensOf("AUDIO")

func tokensOf(modality string) token.List {
	return token.List{Word: "modality", Count: "tokenCount", Counts: func(word string) bool { return strings.EqualFold(word, modality) }}
}
