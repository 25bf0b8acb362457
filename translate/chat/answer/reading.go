package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// The paths of the members of a message, whole or in deltas.
const (
	inMessage  = openai.InChoice + "message."
	lostImages = inMessage + "images"
	inLogprobs = openai.InChoice + "logprobs."
	inCall     = inMessage + "tool_calls[*]."
	inPart     = inMessage + "content[*]."
	inBlock    = inMessage + "thinking_blocks[*]."
)

// The members of a choice, of its message or delta, and of its log probabilities. Every JSON
// answer, and the streams of some servers, have a whole message instead of a delta.
var (
	choices  = openai.NewChoices()
	logprobs = choices.Inside(inLogprobs, "logprobs").Of(members.Array, "content")

	message             = choices.MustInside(inMessage, "delta message")
	messageContent      = message.Must(members.String|members.Array, "content")
	messageRefusal      = message.Of(members.String, "refusal")
	messageReasoning    = message.Of(members.String, "reasoning_content")
	messageReasoningToo = message.Of(members.String, "reasoning") // of other servers, or the same again
	messageThinking     = message.Of(members.Array, "thinking_blocks")
	messageDetails      = message.Of(members.Array, "reasoning_details") // the same reasoning, as the provider wants it back
	messageCalls        = message.Must(members.Array, "tool_calls")
	messageCall         = message.Must(members.Object, "function_call")
	messageAudio        = message.Of(members.Any, "audio")
	messageImages       = message.Of(members.Any, "images") // of servers whose models make images
	_                   = message.Lost("annotations")
	_                   = message.Skip("role")
)

// The members of a part of the content, and of a thinking block.
var (
	parts         = members.New(inPart)
	partType      = parts.Of(members.Any, "type")
	partText      = parts.Of(members.String, "text")
	partRefusal   = parts.Of(members.String, "refusal")
	partData      = parts.Of(members.String, "data")
	partSignature = parts.Of(members.String, "signature")
	partThinking  = parts.Of(members.Any, "thinking")  // a string, or an array of text parts
	partURL       = parts.Of(members.Any, "image_url") // an object, or the URL
	blocks        = parts.At(inBlock)
	pictures      = parts.At(lostImages + "[*].")
	_             = pictures.Skip("index")
)

// The members of an element of tool_calls, and of the deprecated function_call.
var (
	entries                    = members.New(inCall)
	entryIndex                 = entries.Maybe(members.Number, "index")
	entryID                    = entries.Maybe(members.String, "id")
	entryExtra                 = entries.Maybe(members.Object, "extra_content")
	functionName, functionArgs = called(entries.Inside(inCall+"function.", "function"))
	customName, customArgs     = called(entries.Inside(inCall+"custom.", "custom"))
	_                          = entries.Skip("type")

	onlyCall                   = members.New(inMessage + "function_call.")
	onlyCallName, onlyCallArgs = called(onlyCall)
)

// called adds the members of a function or a tool that is called. Some servers send an object
// of arguments instead of a string.
func called(t *members.Table) (name, args members.Member) {
	return t.Maybe(members.String, "name"), t.Of(members.Any&^members.Null, "arguments input")
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return openai.NewObserver(choices, hasContent) }

// textNames are the members inside of content, calls, sound and thinking whose strings are
// text. The others are ids, names, types, signatures and sound.
var textNames = jsonscan.NewNameIndex("content", "refusal", "arguments", "input", "text", "thinking", "transcript")

// hasContent reports whether a choice has content that is not empty, and adds its texts.
// Servers that send reasoning in several members repeat it in each, so only the texts of the
// first one count.
func hasContent(choice *members.Values, texts *openai.Texts) (found bool) {
	for _, m := range [...]members.Member{messageContent, messageRefusal, messageCalls, messageCall, messageAudio} {
		if raw := choice.Raw(m); raw != nil {
			found = addTexts(choice, m, raw, texts) || found
		}
	}
	found = found || choice.Filled(messageImages) != nil
	var repeated openai.Texts
	for _, m := range [...]members.Member{messageReasoning, messageReasoningToo, messageThinking} {
		if raw := choice.Raw(m); raw != nil && addTexts(choice, m, raw, texts) {
			found, texts = true, &repeated
		}
	}
	return found
}

// addTexts adds the texts of a member of a message with a raw value, and reports whether the
// member is content: neither null nor false, nor an empty string, array or object.
func addTexts(choice *members.Values, m members.Member, raw []byte, texts *openai.Texts) bool {
	if raw[0] == '"' && m != messageAudio { // nearly always
		return texts.Add(raw, choice.At(m))
	}
	for name, slot := range choice.Scalars(m) {
		switch scalar := choice.Slice(slot); {
		case scalar[0] != '"':
			texts.Number = slot
		case name == nil && m == messageContent || textNames.Find(name) >= 0:
			texts.Add(scalar, slot)
		}
	}
	return !jsonscan.Blank(raw) && string(raw) != "false"
}
