package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// What follows reads members that chat requests have on their way to every
// other format.

// refuseChat refuses what chat requests may ask for and no other format knows.
func (x *conversion) refuseChat(r *chat.Request) {
	for _, f := range [...]struct {
		path string
		raw  []byte
	}{{"functions", r.Functions}, {"function_call", r.FunctionCall}, {"audio", r.Audio}, {"web_search_options", r.WebSearchOptions}} {
		if f.raw != nil && string(f.raw) != "[]" {
			x.refuse(f.path, "")
		}
	}
	if r.Modalities != nil {
		x.refuseModalities(r.Modalities)
	}
}

// refuseModalities refuses all answers but texts.
func (x *conversion) refuseModalities(raw []byte) {
	x.options = jsonscan.Again(raw)
	if !x.options.EnterArray() {
		x.refuse("modalities", shown(raw))
		return
	}
	for x.options.Element() {
		if kind := x.options.Skip(); string(kind) != `"text"` {
			x.refuse("modalities", shown(kind))
		}
	}
}

// chatTokens is how many tokens the answer may have, raw, by either of two
// names, and which of them that is.
func (x *conversion) chatTokens(r *chat.Request) (raw []byte, member string) {
	newer, older := r.MaxCompletionTokens, r.MaxTokens
	if newer == nil {
		return older, "max_tokens"
	}
	if a, _ := integer(newer); older != nil {
		if b, _ := integer(older); a != b {
			x.invalid("max_tokens", "must be the same as max_completion_tokens where both are sent")
		}
	}
	return newer, "max_completion_tokens"
}

// refusal is the escaped text of a refusal. One that is no text is left out.
func (x *conversion) refusal(m *chat.Message) []byte {
	if m.Refusal != nil && !isString(m.Refusal) {
		x.losses.AddIn(translate.Hint, lostTurn, "refusal")
	}
	return inner(m.Refusal)
}

// chatFormat is what the client says of the form of the answer.
type chatFormat struct {
	kind   []byte // raw
	schema []byte // raw; nil for none
	words  bool   // it is to be asked for in words
}

// jsonObjectSystem asks in words for a JSON object.
const jsonObjectSystem = "Answer with one JSON object and nothing else."

// readFormat reads response_format.
func (x *conversion) readFormat(raw []byte) (f chatFormat) {
	const path = "response_format"
	if raw == nil || !x.object(raw, path) {
		return f
	}
	var wrapped []byte
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			f.kind = x.option()
		case "json_schema":
			wrapped = x.option()
		default:
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	switch kind := textOf(f.kind); {
	case kind == "text":
	case kind == "json_schema":
		f.schema = x.readSchema(wrapped, path+".json_schema")
	case kind == "json_object" && x.traits.RefuseJSONObject:
		x.refuseBy(&refusedObject, path+".type", shown(f.kind))
	case kind == "json_object":
		x.shaping(path)
		f.words = true
	default:
		x.refuse(path+".type", shown(f.kind))
	}
	return f
}

// readSchema finds the schema that the answer shall follow.
func (x *conversion) readSchema(raw []byte, path string) (schema []byte) {
	if !x.object(raw, path) {
		return nil
	}
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "schema":
			schema = x.option()
		default: // its name and the like say nothing
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	if schema == nil {
		x.invalid(path+".schema", "required")
	}
	return schema
}
