package answer

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The paths of objects, for reports of dropped members. Members of a stream's events have the
// paths of a JSON answer.
const (
	inAnswer  = ""
	inContent = "output.message.content[*]."
)

// The members of the data of an event.
var (
	events      = members.New(inAnswer)
	eventIndex  = events.Maybe(members.Number, "contentBlockIndex")
	padding     = events.Maybe(members.String, "p")
	eventReason = events.Maybe(members.String, "stopReason")
	eventUsage  = events.Maybe(members.Object, "usage")
	eventTier   = tierOf(events)
	eventStop   = stopOf(ownOf(events))
	_           = events.Skip("role metrics performanceConfig")
	_           = events.Lost("trace")
	start       = events.Inside(inContent, "start")
	startCall   = start.Inside(inContent+"toolUse.", "toolUse")
	startID     = startCall.Maybe(members.String, "toolUseId")
	startName   = startCall.Must(members.String, "name")
	startImage  = start.Inside(inContent+"image.", "image").Maybe(members.String, "format")
	_           = startCall.Skip("type")
	delta       = events.Inside(inContent, "delta")
	deltaText   = delta.Must(members.String, "text")
	deltaCall   = delta.MustInside(inContent+"toolUse.", "toolUse")
	deltaInput  = deltaCall.Must(members.String, "input")
	_           = delta.Lost("citation")
	deltaImage  = delta.Inside(inContent+"image.", "image").Inside(inContent+"image.source.", "source").Maybe(members.String, "bytes")
	deltaThink  = delta.Inside(inContent+"reasoningContent.", "reasoningContent")
	thinkText   = deltaThink.Maybe(members.String, "text")
	thinkSign   = deltaThink.Maybe(members.String, "signature")
	thinkSealed = deltaThink.Maybe(members.String, "redactedContent")
)

// The members of a JSON answer.
var (
	answers      = members.New(inAnswer)
	answerReason = answers.Maybe(members.String, "stopReason")
	answerUsage  = answers.Maybe(members.Object, "usage")
	answerTier   = tierOf(answers)
	answerStop   = stopOf(ownOf(answers))
	failure      = answers.Maybe(members.Any, "message") // of an exception
	_            = answers.Skip("metrics performanceConfig")
	_            = answers.Lost("trace")
	output       = answers.Inside("output.", "output")
	message      = output.Inside("output.message.", "message")
	contents     = message.Must(members.Array, "content")
	_            = message.Skip("role")
)

// The members of a block of the content.
var (
	block       = members.NewContent(inContent)
	blockText   = block.Must(members.String, "text")
	blockCall   = block.MustInside(inContent+"toolUse.", "toolUse")
	callID      = blockCall.Maybe(members.String, "toolUseId")
	callName    = blockCall.Must(members.String, "name")
	callInput   = blockCall.Must(members.Object, "input")
	_           = blockCall.Skip("type")
	blockThink  = block.Inside(inContent+"reasoningContent.", "reasoningContent")
	blockSealed = blockThink.Maybe(members.String, "redactedContent")
	blockReason = blockThink.Inside(inContent+"reasoningContent.reasoningText.", "reasoningText")
	reasonText  = blockReason.Maybe(members.String, "text")
	reasonSign  = blockReason.Maybe(members.String, "signature")
	cited       = block.Maybe(members.Object, "citationsContent")
	picture     = block.Inside(inContent+"image.", "image")
	pictureType = picture.Maybe(members.String, "format")
	pictureData = picture.Inside(inContent+"image.source.", "source").Maybe(members.String, "bytes")
	_           = block.Lost("document video audio guardContent cachePoint toolResult searchResult")
)

// The members of a text that cites, whose citations no other format has.
var (
	cites        = members.NewContent(inContent + "citationsContent.")
	citesContent = cites.Maybe(members.Array, "content") // some texts have none
	_            = cites.Lost("citations")
)

// tierOf lists the members of serviceTier, and returns the word.
func tierOf(t *members.Table) members.Member {
	return t.Inside("serviceTier.", "serviceTier").Maybe(members.String, "type")
}

// ownOf lists the fields of the model's own answer, for which requests ask.
func ownOf(t *members.Table) *members.Table {
	return t.Inside(own, strings.TrimSuffix(own, "."))
}

const own = "additionalModelResponseFields."

// stopOf returns the stop sequence among the model's own fields: of a JSON answer, or of the
// event of a stream.
func stopOf(t *members.Table) [2]members.Member {
	return [...]members.Member{
		t.Maybe(members.String, "stop_sequence"),
		t.Inside(own+"delta.", "delta").Maybe(members.String, "stop_sequence"),
	}
}

// words are the words of the format for what all answers state.
var words = singleanswer.Words{
	Usage: token.NewRows(
		token.Row{Path: "inputTokens", Is: token.Fresh},
		token.Row{Path: "cacheReadInputTokens", Is: token.CacheRead},
		token.Row{Path: "cacheWriteInputTokens", Is: token.CacheWrite},
		token.Row{Path: "cacheDetails", Is: token.CacheWriteLong, List: &longWrites},
		token.Row{Path: "outputTokens", Is: token.Output},
	),
	Reason: "stopReason",
}

// longWrites are the tokens that are written to caches for an hour, in a list by lifetime.
var longWrites = token.List{Word: "ttl", Count: "inputTokens", Counts: func(ttl string) bool { return ttl == "1h" }}

// Dialect is how errors are expressed in the format: by the name of the event.
var Dialect = fault.Dialect{Unknown: 500, IsError: func(name string, _ any) bool { return name == "error" }}
