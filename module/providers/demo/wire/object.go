package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
)

// Object is one JSON object of a body. A member that is null counts as absent.
type Object struct {
	body    *Body
	path    string // "" for the whole body
	members map[string]json.RawMessage
}

// Strict reports whether unknown fields are refused.
func (o Object) Strict() bool { return o.body.Strict }

// at returns the path of a member.
func (o Object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// Refuse refuses the whole object.
func (o Object) Refuse(sentence, code string) {
	o.body.Refuse(reply.Invalid(o.path, sentence, code))
}

// RefuseMember refuses the member of this name.
func (o Object) RefuseMember(name, sentence, code string) {
	o.body.Refuse(reply.Invalid(o.at(name), sentence, code))
}

// Fail refuses the value of the member of this name.
func (o Object) Fail(name, sentence string) { o.RefuseMember(name, sentence, "invalid_value") }

// Missing refuses the absence of the member of this name.
func (o Object) Missing(name string) {
	o.RefuseMember(name, "required", "missing_required_parameter")
}

// Raw returns the value of a member, nil when it is absent.
func (o Object) Raw(name string) json.RawMessage {
	if raw := o.members[name]; !isNull(raw) {
		return raw
	}
	return nil
}

// Has reports whether the object has the member.
func (o Object) Has(name string) bool { return o.Raw(name) != nil }

// Definition returns the whole object as JSON, its members in the order of
// their names.
func (o Object) Definition() json.RawMessage {
	raw, _ := json.Marshal(o.members) // raw messages always encode
	return raw
}

// Known refuses the first member, by name, that is not in names. If the body is not read
// strictly, it does nothing.
func (o Object) Known(names ...string) {
	if !o.body.Strict || o.body.refused != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if !slices.Contains(names, name) {
			o.RefuseMember(name, "unknown parameter", "unknown_parameter")
		}
	}
}

// read decodes an optional member, and reports whether the object has it.
func (o Object) read(name string, into any, kind string) bool {
	raw := o.Raw(name)
	if raw == nil {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		o.RefuseMember(name, "must be "+kind, "invalid_type")
		return false
	}
	return true
}

// Text reads an optional string.
func (o Object) Text(name string) (s string) {
	o.read(name, &s, "a string")
	return s
}

// Need reads a required string, which must not be empty.
func (o Object) Need(name string) string {
	if !o.Has(name) {
		o.Missing(name)
		return ""
	}
	s := o.Text(name)
	if s == "" {
		o.Fail(name, "must be a non-empty string")
	}
	return s
}

// OneOf reads an optional string that must be one of the words.
func (o Object) OneOf(name string, words ...string) string {
	s := o.Text(name)
	if o.Has(name) && !slices.Contains(words, s) {
		o.Fail(name, fmt.Sprintf("must be one of %q", words))
	}
	return s
}

// Flag reads an optional boolean, false by default.
func (o Object) Flag(name string) (b bool) {
	o.read(name, &b, "a boolean")
	return b
}

// Number checks an optional number against its bounds.
func (o Object) Number(name string, low, high float64) {
	var f float64
	if o.read(name, &f, "a number") && (f < low || f > high) {
		o.Fail(name, fmt.Sprintf("must be between %v and %v", low, high))
	}
}

// Integer reads an optional integer with a lower bound. It returns none if the member is
// absent or refused.
func (o Object) Integer(name string, low, none int) int {
	var f float64
	if !o.read(name, &f, "an integer") {
		return none
	}
	if f != float64(int(f)) || int(f) < low {
		o.Fail(name, fmt.Sprintf("must be an integer of at least %d", low))
		return none
	}
	return int(f)
}

// Items reads an optional array.
func (o Object) Items(name string) (list []json.RawMessage) {
	o.read(name, &list, "an array")
	return list
}

// Each visits the objects of an optional array.
func (o Object) Each(name string, visit func(Object)) {
	for i, raw := range o.Items(name) {
		visit(o.body.object(raw, o.body.element(o.at(name), i)))
	}
}

// Sub reads an optional object, and reports whether the object has it.
func (o Object) Sub(name string) (Object, bool) {
	raw := o.Raw(name)
	if raw == nil {
		return Object{body: o.body, path: o.at(name)}, false
	}
	return o.body.object(raw, o.at(name)), true
}

// Variant reads an object whose type is the name of the member that describes it, and returns
// the type and that member. It refuses an object of another type, or without the member.
func (o Object) Variant(types ...string) (kind string, inner Object) {
	kind = o.OneOf("type", types...)
	inner, there := o.Sub(kind)
	if kind == "" || !there {
		o.Fail("type", "required, with a member of that name")
	}
	return kind, inner
}

// Strings reads an optional array of strings.
func (o Object) Strings(name string) (list []string) {
	o.read(name, &list, "an array of strings")
	return list
}
