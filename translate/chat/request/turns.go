package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The sentences on messages.
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

// role is who speaks, as far as it decides what a message must have.
type role uint8

const (
	noRole role = iota
	someRole
	assistant
	tool
)

// turn is the state of a message before its end.
type turn struct {
	role    role
	content jsonscan.Kind // Invalid where there is none
	call    jsonscan.Kind // of tool_call_id
}

func (r *request) message(int) {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	var t turn
	for r.Member() {
		switch string(r.Name()) {
		case "role":
			r.role(&t)
		case "content":
			r.content(&t)
		case "tool_call_id":
			t.call = r.Kind()
			r.Skip()
		case "tool_calls":
			r.toolCalls()
		case "function_call":
			r.OptionsOf("function_call")
		default:
			r.Skip()
		}
	}
	r.require(&t)
}

func (r *request) role(t *turn) {
	if r.Null() {
		return
	}
	r.Part(partRole)
	r.Push("role")
	defer r.Pop()
	t.role = someRole
	name, ok := r.Text()
	if !ok {
		r.Refuse(wantRole + r.Got())
		return
	}
	switch string(name) {
	case "assistant":
		t.role = assistant
	case "tool":
		t.role = tool
	case "system", "developer", "user", "function":
	default:
		r.NoteValue(wantRole, strict.Shown(name))
	}
}

// content reads a message's text or its parts.
func (r *request) content(t *turn) {
	t.content = r.Kind()
	if !r.EnterArray() {
		r.Skip()
		return
	}
	r.Part(partParts)
	r.Push("content")
	for i := 0; r.Element(); i++ {
		r.PushIndex(i)
		r.part()
		r.Pop()
	}
	r.Pop()
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
		case "image_url", "input_audio", "file":
			r.Push(name)
			r.media()
			r.Pop()
		case "prompt_cache_breakpoint", "cache_control":
			r.OptionsOf(name)
		default:
			r.Skip()
		}
	}
	r.WantKind("type", kind, jsonscan.String)
}

// media reads an object that holds a file or says where it is.
func (r *request) media() {
	for r.OpenObject(); r.Member(); {
		name := string(r.Name())
		raw := r.Skip()
		switch name {
		case "url", "file_data":
			r.View.Files.Add(token.FileKindOfURL(raw), len(raw))
		case "data":
			r.View.Files.Add(token.AudioFile, len(raw))
		}
	}
}

// toolCalls reads the calls that an assistant made.
func (r *request) toolCalls() {
	if r.Null() {
		return
	}
	r.Part(partToolCalls)
	r.Push("tool_calls")
	defer r.Pop()
	r.Elements("must be an array of objects", func(int) { r.toolCall() })
}

// toolCall reads one call. A call of a type other than function has its input
// elsewhere.
func (r *request) toolCall() {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	id, function, isFunction := jsonscan.Invalid, jsonscan.Invalid, true
	before := r.Mark()
	for r.Member() {
		switch string(r.Name()) {
		case "id":
			id = r.Kind()
			r.Skip()
		case "type":
			isFunction = isNullOr(r, "function")
		case "function":
			function = r.Kind()
			r.Push("function")
			r.function()
			r.Pop()
		case "custom":
			r.OptionsOf("custom")
		default:
			r.Skip()
		}
	}
	if !isFunction {
		r.Return(before)
	}
	r.WantKind("id", id, jsonscan.String)
	if isFunction {
		r.WantKind("function", function, jsonscan.Object)
	}
}

func isNullOr(r *request, text string) bool {
	if r.Null() {
		return true
	}
	t, ok := r.Text()
	if !ok {
		r.Skip()
	}
	return string(t) == text
}

// function reads the function of a call.
func (r *request) function() {
	if !r.EnterObject() {
		r.Skip()
		return
	}
	name, arguments := jsonscan.Invalid, jsonscan.Invalid
	for r.Member() {
		switch string(r.Name()) {
		case "name":
			name = r.Kind()
		case "arguments":
			arguments = r.Kind()
		}
		r.Skip()
	}
	r.WantKind("name", name, jsonscan.String)
	r.WantKind("arguments", arguments, jsonscan.String)
}

// require notes faults for the members that a message lacks.
func (r *request) require(t *turn) {
	if t.role == noRole {
		r.Part(partRole)
		r.NoteMember("role", strict.Required)
	}
	r.requireContent(t)
	if t.role == tool {
		r.Part(partToolCallID)
		r.WantKind("tool_call_id", t.call, jsonscan.String)
	}
}

func (r *request) requireContent(t *turn) {
	r.Part(partContent)
	switch t.content {
	case jsonscan.String, jsonscan.Array:
	case jsonscan.Invalid:
		if t.role != assistant {
			r.NoteMember("content", strict.Required)
		}
	case jsonscan.Null:
		if t.role != assistant {
			r.NoteMember("content", wantContent+", got null")
		}
	default:
		r.NoteMember("content", wantContent+", got "+t.content.String())
	}
}
