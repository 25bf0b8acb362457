package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The requirements on messages.
const (
	wantRole    = "must be 'system', 'developer', 'user', 'assistant', 'tool' or 'function'"
	wantContent = "must be a string or an array of content parts"
)

// The parts of a message, in the order in which faults are reported.
const (
	partRole = iota + 1
	partContent
	partParts
	partToolCallID
	partToolCalls
)

// turn is what is known of a message that has been read.
type turn struct {
	strict.Members
	role    *shape.Shape // nil for a role that only older clients have
	hasRole bool
}

func (r *request) message(int) {
	var t turn
	if r.ReadObject(&t.Members, messageShapes, func(name string) { r.messageMember(&t, name) }) {
		r.require(&t)
	}
}

func (r *request) messageMember(t *turn, name string) {
	switch name {
	case "role":
		r.role(t)
	case "content":
		r.content()
	case "tool_calls":
		r.toolCalls()
	case "function_call":
		r.Options()
	case "thinking_blocks":
		r.thinkingBlocks()
	default:
		r.Skip()
	}
}

// thinkingBlocks reads the reasoning of an assistant. The blocks that this gateway signed are
// cut, since providers do not know them; a member that has no others goes, too.
func (r *request) thinkingBlocks() {
	start := r.MemberStart()
	if r.Kind() != jsonscan.Array {
		r.Skip()
		return
	}
	cuts := strict.Cutter{Spans: &r.View.SelfSigned}
	for r.EnterArray(); r.Element(); {
		at := translate.Span{Start: r.Offset()}
		own := r.isOwnThinking()
		at.End = r.Offset()
		cuts.Element(at, own)
	}
	if cuts.All() {
		r.CutMember(translate.Span{Start: start, End: r.Offset()})
	}
}

// isOwnThinking reads a block, and reports whether this gateway signed it.
func (r *request) isOwnThinking() bool {
	var kind, thinking, signature []byte
	for r.OpenObject(); r.Member(); {
		switch string(r.Name()) {
		case "type":
			kind = r.StringOrSkip()
		case "thinking":
			thinking = r.StringOrSkip()
		case "signature":
			signature = r.StringOrSkip()
		default:
			r.Skip()
		}
	}
	return string(kind) == `"thinking"` && thinking != nil && seal.IsOwn(jsonscan.Inner(thinking), jsonscan.Inner(signature))
}

func (r *request) role(t *turn) {
	name, ok := r.Text()
	if !ok && r.Null() {
		return
	}
	r.Part(partRole)
	t.hasRole = true
	if !ok {
		r.Refuse(wantRole + r.Got())
		return
	}
	if t.role = messageShapes.Shape(name); t.role == nil && string(name) != "function" {
		r.NoteValue(wantRole, strict.Shown(name))
	}
}

// content reads the text or the parts of a message.
func (r *request) content() {
	if r.Kind() != jsonscan.Array {
		r.Skip()
		return
	}
	r.Part(partParts)
	r.Elements("", func(int) { r.part() })
}

// part reads a part of a content.
func (r *request) part() {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	kind := jsonscan.Invalid
	for r.Member() {
		switch name := string(r.Name()); name {
		case "type":
			kind = r.Kind()
			r.Skip()
		case "image_url", "input_audio", "audio_url", "video_url", "file":
			r.Push(name)
			r.File(mediaKinds[name])
			r.Pop()
		case "prompt_cache_breakpoint", "cache_control":
			r.OptionsOf(name)
		default:
			r.Skip()
		}
	}
	r.WantKind("type", kind, jsonscan.String)
}

// mediaKinds are the kinds of the files in the parts of a content, also of services that take
// sound and video by address.
var mediaKinds = map[string]token.FileKind{
	"image_url": token.ImageFile, "input_audio": token.AudioFile, "audio_url": token.AudioFile,
	"video_url": token.VideoFile, "file": token.PDFFile,
}

// toolCalls reads the calls of an assistant.
func (r *request) toolCalls() {
	if !r.Null() {
		r.Part(partToolCalls)
		r.Elements("must be an array of objects", func(int) { r.toolCall() })
	}
}

// toolCall reads one call, which is a function without a type. Only functions have a
// function to check.
func (r *request) toolCall() {
	var call strict.Members
	before := r.Mark()
	if !r.ReadObject(&call, callShapes, r.callMember) {
		return
	}
	isFunction := call.Type() == "function" || strict.Missing(call.Kind("type"))
	if !isFunction {
		r.Return(before)
	}
	r.WantKind("id", call.Kind("id"), jsonscan.String)
	if isFunction {
		r.WantKind("function", call.Kind("function"), jsonscan.Object)
	}
}

func (r *request) callMember(name string) {
	switch name {
	case "function":
		r.function()
	case "custom":
		r.Options()
	default:
		r.Skip()
	}
}

// function reads the function of a call.
func (r *request) function() {
	if r.Kind() != jsonscan.Object {
		r.Skip()
		return
	}
	var called strict.Members
	r.ReadObject(&called, calledShapes, func(string) { r.Skip() })
	r.WantKind("name", called.Kind("name"), jsonscan.String)
	r.WantKind("arguments", called.Kind("arguments"), jsonscan.String)
}

// require notes faults for the members that a message lacks.
func (r *request) require(t *turn) {
	if !t.hasRole {
		r.Part(partRole)
		r.NoteMember("role", strict.Required)
	}
	r.Part(partContent)
	r.requireContent(t.Kind("content"), t.role.Type() == "assistant")
	r.Part(partToolCallID)
	r.WantMembers(&t.Members, t.role)
}

// requireContent checks the kind of the content, which only messages of the assistant
// may lack.
func (r *request) requireContent(kind jsonscan.Kind, byAssistant bool) {
	switch {
	case kind == jsonscan.String || kind == jsonscan.Array || byAssistant && strict.Missing(kind):
	case kind == jsonscan.Invalid:
		r.NoteMember("content", strict.Required)
	default:
		r.NoteMember("content", wantContent+", got "+kind.String())
	}
}
