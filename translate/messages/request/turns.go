package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

const (
	wantRole    = "must be 'user', 'assistant' or 'system'"
	wantContent = "must be a string or an array of content blocks"
	wantSystem  = "must be a string or an array of text blocks"
)

// The parts of a message, in the order in which faults are reported.
const (
	partRole = iota + 1
	partContent
	partBlocks
)

// messages reads the conversation.
func (r *request) messages() {
	cuts := strict.Cutter{Spans: &r.View.SelfSigned}
	r.Messages(func(i int) {
		start := r.Offset()
		selfSigned := r.message(i)
		cuts.Element(translate.Span{Start: start, End: r.Offset()}, selfSigned)
	})
	if cuts.All() {
		cuts.CutAll()
	}
}

// turn is the state of a message before its end.
type turn struct {
	system     bool // its role is system
	assistant  bool // its role is assistant
	hasRole    bool
	hasConfig  bool
	content    jsonscan.Kind
	selfSigned bool // the message contains only blocks that this gateway signed
}

// message reads the message with an index, and reports whether the message consists of
// blocks that this gateway signed.
func (r *request) message(index int) (selfSigned bool) {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return false
	}
	var t turn
	for r.Member() {
		switch string(r.Name()) {
		case "role":
			r.role(&t)
		case "content":
			r.content(&t)
		case "output_config":
			t.hasConfig = r.OptionsOf("output_config")
		default:
			r.Skip()
		}
	}
	r.require(&t)
	if t.system && !strict.Missing(t.content) {
		r.systemText(index)
	}
	return t.selfSigned
}

// systemText notes a message of the system. Whether the first message is late depends on
// the field system, which may come behind the messages.
func (r *request) systemText(index int) {
	switch {
	case index == 0:
		r.leads = true
	case r.View.LateSystem == 0:
		r.View.LateSystem = index + 1
	}
}

func (r *request) role(t *turn) {
	if r.Null() {
		return
	}
	r.Part(partRole)
	r.Push("role")
	defer r.Pop()
	t.hasRole = true
	role, ok := r.Text()
	switch {
	case !ok:
		r.Refuse(wantRole + r.Got())
	case string(role) == "system":
		t.system = true
	case string(role) == "assistant":
		t.assistant = true
	case string(role) != "user":
		r.NoteValue(wantRole, strict.Shown(role))
	}
}

func (r *request) content(t *turn) {
	t.content = r.Kind()
	r.Push("content")
	defer r.Pop()
	switch t.content {
	case jsonscan.Array:
		t.selfSigned = r.blocks(0)
	default:
		r.Skip()
	}
}

// require notes faults for the members that a message lacks.
func (r *request) require(t *turn) {
	if !t.hasRole {
		r.Part(partRole)
		r.NoteMember("role", strict.Required)
	}
	r.Part(partContent)
	switch t.content {
	case jsonscan.String, jsonscan.Array:
	case jsonscan.Invalid:
		// A message without content can set the effort of later turns.
		if !t.system || !t.hasConfig {
			r.NoteMember("content", strict.Required)
		}
	case jsonscan.Null:
		// An answer without a text may have null for its content, and clients send
		// it back unchanged.
		if !t.assistant && (!t.system || !t.hasConfig) {
			r.NoteMember("content", wantContent+", got null")
		}
	default:
		r.NoteMember("content", wantContent+", got "+t.content.String())
	}
}

// system reads the system prompt.
func (r *request) system() {
	if text, ok := r.RawString(); ok {
		r.hasSystem = len(text) > len(`""`)
		return
	}
	r.Elements(wantSystem, func(i int) {
		r.hasSystem = true
		r.Item(i)
		r.systemBlock()
	})
}

func (r *request) systemBlock() {
	var b block
	switch {
	case !r.block(&b, 1):
	case b.Type() == "text", b.Kind("type") != jsonscan.String:
		r.WantType(&b.Members)
	default:
		r.NoteMember("type", "must be 'text'")
	}
}
