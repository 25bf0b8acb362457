package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The paths of objects, for reports of dropped members. Members of a stream's events have
// the paths of a JSON answer.
const (
	inAnswer   = ""
	inBlock    = "content.*."
	inCitation = "content.*.citations.*."
)

// The members of the data of an event.
var (
	events       = members.New(inAnswer)
	eventType    = events.Maybe(members.String, "type")
	eventIndex   = events.Maybe(members.Number, "index")
	eventError   = events.Maybe(members.Any, "error")
	eventMessage = events.Maybe(members.Object, "message")
	eventBlock   = events.Maybe(members.Any, "content_block")
	eventDelta   = events.Maybe(members.Any, "delta")
	eventUsage   = events.Maybe(members.Object, "usage")
)

// The members of a message: a JSON answer, or the beginning of a stream.
var (
	messages         = members.New(inAnswer)
	messageType      = messages.Maybe(members.String, "type")
	messageError     = messages.Maybe(members.Any, "error")
	messageModel     = messages.Maybe(members.String, "model")
	messageContent   = messages.Maybe(members.Any, "content")
	messageUsage     = messages.Maybe(members.Object, "usage")
	messageReason    = messages.Maybe(members.String, "stop_reason")
	messageSequence  = messages.Maybe(members.String, "stop_sequence")
	messageExplained = detailsOf(messages.Inside("stop_details.", "stop_details"))
	messageTokens    = messages.Maybe(members.Any, "input_tokens") // of an answer that only counts them
	_                = messages.Skip("id role")
)

// The members of the delta of a message_delta.
var (
	changes         = members.New(inAnswer)
	changeReason    = changes.Maybe(members.String, "stop_reason")
	changeSequence  = changes.Maybe(members.String, "stop_sequence")
	changeExplained = detailsOf(changes.Inside("stop_details.", "stop_details"))
	_               = changes.Skip("type")
)

// detailsOf lists the members of stop_details, and returns the explanation, the only one
// that other formats can express.
func detailsOf(details *members.Table) members.Member {
	details.Skip("type")
	details.Lost("category")
	return details.Maybe(members.String, "explanation")
}

// The members of a content block.
var (
	blocks         = members.New(inBlock)
	blockText      = blocks.Of(members.String, "text")
	blockThinking  = blocks.Of(members.String, "thinking")
	blockSignature = blocks.Of(members.String, "signature")
	blockData      = blocks.Of(members.String, "data")
	blockID        = blocks.Maybe(members.String, "id")
	blockName      = blocks.Maybe(members.String, "name")
	blockInput     = blocks.Maybe(members.Any, "input")
	blockCitations = blocks.Maybe(members.Any, "citations")
	_              = blocks.Skip("type")
)

// The members of the delta of a content_block_delta.
var (
	deltas         = members.New(inBlock)
	deltaText      = deltas.Of(members.String, "text")
	deltaThinking  = deltas.Of(members.String, "thinking")
	deltaSignature = deltas.Of(members.String, "signature")
	deltaJSON      = deltas.Of(members.String, "partial_json")
	deltaSummary   = deltas.Of(members.String, "content") // of the conversation
	deltaCitation  = deltas.Maybe(members.Any, "citation")
	deltaType      = deltas.Maybe(members.String, "type")
)

// The members of a citation of a web page.
var (
	citations     = members.New(inCitation)
	citationURL   = citations.Maybe(members.String, "url")
	citationTitle = citations.Maybe(members.String, "title")
	_             = citations.Skip("type")
)

// The members that an observer reads of an event, with those of its message, its block or
// its delta. It reports no losses, so the paths do not matter.
var (
	seen               = members.New(inAnswer)
	seenType           = seen.Maybe(members.String, "type")
	seenError          = seen.Maybe(members.Any, "error")
	seenUsage          = seen.Maybe(members.Object, "usage")
	seenMessage        = seen.Inside(inAnswer, "message")
	seenModel          = seenMessage.Maybe(members.String, "model")
	seenMessageUsage   = seenMessage.Maybe(members.Object, "usage")
	seenBlock          = seen.Inside(inAnswer, "content_block")
	seenBlockType      = seenBlock.Maybe(members.String, "type")
	seenBlockText      = seenBlock.Maybe(members.String, "text")
	seenBlockThinking  = seenBlock.Maybe(members.String, "thinking")
	seenBlockInput     = seenBlock.Maybe(members.Any, "input")
	seenBlockSignature = seenBlock.Maybe(members.String, "signature")
	seenDelta          = seen.Inside(inAnswer, "delta")
	seenText           = seenDelta.Maybe(members.String, "text")
	seenThinking       = seenDelta.Maybe(members.String, "thinking")
	seenJSON           = seenDelta.Maybe(members.String, "partial_json")
	seenSummary        = seenDelta.Maybe(members.String, "content")
	seenSignature      = seenDelta.Maybe(members.String, "signature")
	seenReason         = seenDelta.Maybe(members.String, "stop_reason")
)

// eventKind is the kind of an event, by its name or the type in its data.
type eventKind uint8

const (
	otherEvent eventKind = iota // nothing is read from it
	namelessEvent
	messageStart
	blockStart
	blockDelta
	blockStop
	messageDelta
	messageStop
	errorEvent
)

// eventKinds lists the kinds of events by their names.
var eventKinds = map[string]eventKind{
	"": namelessEvent, "message_start": messageStart, "content_block_start": blockStart, "content_block_delta": blockDelta,
	"content_block_stop": blockStop, "message_delta": messageDelta, "message_stop": messageStop, "error": errorEvent,
}

// kindOf returns the kind of an event without a name by its raw type and its error, nil for
// none. Some servers write errors with neither a name nor a type.
func kindOf(typ, failure []byte) eventKind {
	kind := eventKinds[string(jsonscan.DecodedOf(typ))]
	if kind == namelessEvent && failure != nil {
		return errorEvent
	}
	return kind
}

// blockKind is the type of a content block of an answer.
type blockKind uint8

const (
	unknownBlock blockKind = iota // core events cannot express it
	textBlock
	thinkingBlock
	redactedThinkingBlock
	toolUseBlock
)

// blockKinds lists the kinds of blocks by their types.
var blockKinds = map[string]blockKind{
	"text": textBlock, "thinking": thinkingBlock, "redacted_thinking": redactedThinkingBlock, "tool_use": toolUseBlock,
}

// blockKindOf returns the kind of a raw type.
func blockKindOf(raw []byte) blockKind { return blockKinds[string(jsonscan.DecodedOf(raw))] }

// reading is the event or the JSON answer that was read last. What it contains are slices
// of the data.
type reading struct {
	whole members.Values // of the event or the answer
	part  members.Values // of its message, its block or its delta
}

// read reads an object by its table, as members.Values.ReadDocument does.
func (r *reading) read(data []byte, table *members.Table, losses members.Losses) error {
	c := jsonscan.New(data)
	return r.whole.ReadDocument(&c, table, losses)
}

// count adds the usage in an event or a message to the report, and reports whether there is
// any.
func count(v *members.Values, usage members.Member, report *token.Report) bool {
	if v.Raw(usage) == nil {
		return false
	}
	c := v.Cursor(usage)
	return report.Read(&c, usageRows)
}
