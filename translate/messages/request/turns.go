package request

import (
	"strconv"

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
		start := r.JSON.Offset()
		selfSigned := r.message(i)
		cuts.Element(translate.Span{Start: start, End: r.JSON.Offset()}, selfSigned)
	})
	if cuts.All() {
		cuts.CutAll()
	}
}

// message reads the message with an index, and reports whether the message consists of
// blocks that this gateway signed.
func (r *request) message(index int) (selfSigned bool) {
	if !r.JSON.EnterObject() {
		r.Refuse("must be an object")
		return false
	}
	role, hasRole, hasConfig, content := "", false, false, jsonscan.Invalid
	for r.Member() {
		switch string(r.JSON.Name()) {
		case "role":
			if hasRole = !r.JSON.Null(); hasRole {
				role = r.role()
			}
		case "content":
			content = r.JSON.Kind()
			r.Push("content")
			if content == jsonscan.Array {
				selfSigned = r.blocks(0)
			} else {
				r.JSON.Skip()
			}
			r.Pop()
		case "output_config":
			hasConfig = r.OptionsOf("output_config")
		default:
			r.JSON.Skip()
		}
	}
	if !hasRole {
		r.Part(partRole)
		r.NoteMember("role", strict.Required)
	}
	r.Part(partContent)
	configures := role == "system" && hasConfig // it sets the effort of later turns
	switch content {
	case jsonscan.String, jsonscan.Array:
	case jsonscan.Invalid:
		if !configures {
			r.NoteMember("content", strict.Required)
		}
	case jsonscan.Null:
		// An answer without a text may have null for its content, and clients send
		// it back unchanged.
		if role != "assistant" && !configures {
			r.NoteMember("content", wantContent+", got null")
		}
	default:
		r.NoteMember("content", wantContent+", got "+content.String())
	}
	switch {
	case role != "system" || strict.Missing(content):
	case index == 0: // late behind the field system, which may come behind the messages
		r.leads = true
	case r.View.LateSystem == "":
		r.View.LateSystem = "messages." + strconv.Itoa(index) + ".role"
	}
	return selfSigned
}

// role reads the role of a message and returns it, "" for one that is not known.
func (r *request) role() string {
	r.Part(partRole)
	r.Push("role")
	defer r.Pop()
	text, ok := r.JSON.Text()
	if !ok {
		r.Refuse(wantRole + r.Got())
		return ""
	}
	for _, role := range []string{"user", "assistant", "system"} {
		if string(text) == role {
			return role
		}
	}
	r.NoteValue(wantRole, strict.Shown(text))
	return ""
}

// system reads the system prompt.
func (r *request) system() {
	if text, ok := r.JSON.RawString(); ok {
		r.hasSystem = len(text) > len(`""`)
		return
	}
	r.Elements(wantSystem, func(i int) {
		r.hasSystem = true
		r.Item(i)
		var b block
		switch {
		case !r.block(&b, 1):
		case b.Type() == "text", b.Kind("type") != jsonscan.String:
			r.WantType(&b.Members)
		default:
			r.NoteMember("type", "must be 'text'")
		}
	})
}
