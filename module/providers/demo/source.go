package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// source is one request body being read. It remembers the first fault; what is
// read after it does not matter.
type source struct {
	dots   bool // paths as messages.0.role, else messages[0].role
	strict bool
	fault  *refusal
}

func newSource(x *exchange) *source {
	return &source{dots: x.route.format == translate.Messages, strict: x.engine.strict}
}

func (s *source) fail(path, sentence, code string) {
	if s.fault == nil {
		s.fault = invalid(path, sentence, code)
	}
}

// object is one JSON object of the body with the way to it.
type object struct {
	src     *source
	path    string
	members map[string]json.RawMessage
}

// body reads the whole body.
func (s *source) body(raw []byte) object {
	o := object{src: s}
	if err := json.Unmarshal(raw, &o.members); err != nil || o.members == nil {
		s.fail("request body", "must be a JSON object", "invalid_json")
	}
	return o
}

// object reads one value that must be an object.
func (s *source) object(raw json.RawMessage, path string) object {
	o := object{src: s, path: path}
	if err := json.Unmarshal(raw, &o.members); err != nil || o.members == nil {
		s.fail(path, "must be an object", "invalid_type")
	}
	return o
}

// at is the path of a member.
func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// item is the path of an element of the array at path.
func (s *source) item(path string, i int) string {
	if s.dots {
		return path + "." + strconv.Itoa(i)
	}
	return fmt.Sprintf("%s[%d]", path, i)
}

func (o object) fail(name, sentence string) { o.src.fail(o.at(name), sentence, "invalid_value") }

// raw is the member's value, nil when it is absent or null.
func (o object) raw(name string) json.RawMessage {
	if raw := o.members[name]; !bytes.Equal(raw, []byte("null")) {
		return raw
	}
	return nil
}

func (o object) has(name string) bool { return o.raw(name) != nil }

// known refuses members of other names when the engine is strict.
func (o object) known(names ...string) {
	if !o.src.strict || o.src.fault != nil {
		return
	}
	for name := range o.members {
		if !slices.Contains(names, name) {
			o.src.fail(o.at(name), "unknown parameter", "unknown_parameter")
		}
	}
}

// read decodes an optional member and reports whether it was there.
func (o object) read(name string, into any, kind string) bool {
	raw := o.raw(name)
	if raw == nil {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		o.src.fail(o.at(name), "must be "+kind, "invalid_type")
		return false
	}
	return true
}

// text reads an optional string.
func (o object) text(name string) (s string) {
	o.read(name, &s, "a string")
	return s
}

// need reads a string that must be there, and not be empty.
func (o object) need(name string) string {
	if !o.has(name) {
		o.src.fail(o.at(name), "required", "missing_required_parameter")
		return ""
	}
	s := o.text(name)
	if s == "" {
		o.fail(name, "must be a non-empty string")
	}
	return s
}

// oneOf reads an optional string that must be one of the words.
func (o object) oneOf(name string, words ...string) string {
	s := o.text(name)
	if o.has(name) && !slices.Contains(words, s) {
		o.fail(name, fmt.Sprintf("must be one of %q", words))
	}
	return s
}

func (o object) flag(name string) (b bool) {
	o.read(name, &b, "a boolean")
	return b
}

// number checks an optional number against its bounds.
func (o object) number(name string, low, high float64) {
	var f float64
	if o.read(name, &f, "a number") && (f < low || f > high) {
		o.fail(name, fmt.Sprintf("must be between %v and %v", low, high))
	}
}

// integer reads an optional integer with a lower bound; none without it.
func (o object) integer(name string, low, none int) int {
	var f float64
	if !o.read(name, &f, "an integer") {
		return none
	}
	if f != float64(int(f)) || int(f) < low {
		o.fail(name, fmt.Sprintf("must be an integer of at least %d", low))
		return none
	}
	return int(f)
}

// items reads an optional array.
func (o object) items(name string) (list []json.RawMessage) {
	o.read(name, &list, "an array")
	return list
}

// each visits the objects of an optional array.
func (o object) each(name string, visit func(object)) {
	for i, raw := range o.items(name) {
		visit(o.src.object(raw, o.src.item(o.at(name), i)))
	}
}

// sub reads an optional object.
func (o object) sub(name string) (object, bool) {
	raw := o.raw(name)
	if raw == nil {
		return object{src: o.src, path: o.at(name)}, false
	}
	return o.src.object(raw, o.at(name)), true
}

// strings reads an optional list of strings; one string is a list of one when
// single is set.
func (o object) strings(name string, single bool) []string {
	var list []string
	if single && quoted(o.raw(name)) {
		return []string{o.text(name)}
	}
	o.read(name, &list, "an array of strings")
	return list
}

// quoted reports whether raw is a JSON string.
func quoted(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
