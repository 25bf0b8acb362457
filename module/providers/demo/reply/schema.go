package reply

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that determines example values.
type schema struct {
	Ref              string                     `json:"$ref"`
	Type             json.RawMessage            `json:"type"` // a word or a list of them
	Const            json.RawMessage            `json:"const"`
	Default          json.RawMessage            `json:"default"`
	Enum             []json.RawMessage          `json:"enum"`
	Examples         []json.RawMessage          `json:"examples"`
	AnyOf            []json.RawMessage          `json:"anyOf"`
	OneOf            []json.RawMessage          `json:"oneOf"`
	AllOf            []json.RawMessage          `json:"allOf"`
	Properties       map[string]json.RawMessage `json:"properties"`
	Required         []string                   `json:"required"`
	Items            json.RawMessage            `json:"items"`
	MinItems         int                        `json:"minItems"`
	MinLength        int                        `json:"minLength"`
	Format           string                     `json:"format"`
	Minimum          *json.Number               `json:"minimum"`
	ExclusiveMinimum *json.Number               `json:"exclusiveMinimum"`
	Maximum          *json.Number               `json:"maximum"`
}

// Bounds on schemas, which may be recursive or require large values.
const (
	maxDepth  = 12
	maxValues = 500       // in one object of arguments
	maxSchema = 128 << 10 // bytes; a larger schema is not read
	maxLength = 1000      // characters of one string
)

// sampleOf returns an object with every member that a schema requires. The object is empty
// for a missing schema, and for one that exceeds the bounds.
func sampleOf(root json.RawMessage) json.RawMessage {
	if len(root) > maxSchema {
		return json.RawMessage("{}")
	}
	value := (&sampler{root: root}).value(root, "", 0)
	if !bytes.HasPrefix(value, []byte("{")) {
		return json.RawMessage("{}")
	}
	return value
}

// sampler makes example values.
type sampler struct {
	root   json.RawMessage // references are resolved in it
	values int             // number of values so far
}

func (p *sampler) value(raw json.RawMessage, name string, depth int) json.RawMessage {
	var s schema
	p.values++
	if p.values > maxValues || depth > maxDepth || json.Unmarshal(raw, &s) != nil {
		return json.RawMessage("null")
	}
	if s.Ref != "" {
		return p.value(p.resolve(s.Ref), name, depth+1)
	}
	for _, given := range [][]json.RawMessage{{s.Const}, s.Enum, {s.Default}, s.Examples} {
		if len(given) > 0 && given[0] != nil {
			return given[0]
		}
	}
	if variants := slices.Concat(s.AnyOf, s.OneOf, s.AllOf); len(variants) > 0 && len(s.Properties) == 0 {
		return p.value(variants[0], name, depth+1)
	}
	return p.typed(s, name, depth)
}

func (p *sampler) typed(s schema, name string, depth int) json.RawMessage {
	switch s.kind() {
	case "object":
		return p.object(s, depth)
	case "array":
		return p.array(s, name, depth)
	case "integer", "number":
		return s.number()
	case "boolean":
		return json.RawMessage("true")
	case "null":
		return json.RawMessage("null")
	default:
		return Encode(s.text(name))
	}
}

// kind returns the first type that is not null. A schema without a type is an
// object if it has properties, else a string.
func (s schema) kind() string {
	var word string
	var words []string
	if json.Unmarshal(s.Type, &word) == nil && word != "" {
		return word
	}
	_ = json.Unmarshal(s.Type, &words) // an odd type is no type
	for _, word := range words {
		if word != "null" {
			return word
		}
	}
	if s.Properties != nil {
		return "object"
	}
	return "string"
}

// object returns an object with the required members, in the order of the schema's list.
func (p *sampler) object(s schema, depth int) json.RawMessage {
	var members [][]byte
	for _, name := range s.Required {
		member := s.Properties[name]
		if member == nil {
			member = json.RawMessage("{}")
		}
		members = append(members, slices.Concat(Encode(name), []byte(":"), p.value(member, name, depth+1)))
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
}

func (p *sampler) array(s schema, name string, depth int) json.RawMessage {
	item := s.Items
	if item == nil {
		item = json.RawMessage("{}")
	}
	var items [][]byte
	for range min(max(s.MinItems, 1), maxValues) {
		items = append(items, p.value(item, name, depth+1))
	}
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

// number returns a bound of the schema, else 1.
func (s schema) number() json.RawMessage {
	switch {
	case s.Minimum != nil:
		return json.RawMessage(*s.Minimum)
	case s.ExclusiveMinimum != nil:
		low, err := s.ExclusiveMinimum.Int64()
		if err == nil {
			return Encode(low + 1)
		}
	case s.Maximum != nil:
		return json.RawMessage(*s.Maximum)
	}
	return json.RawMessage("1")
}

// text returns a string in the format of the schema, else one with the name of the member.
func (s schema) text(name string) string {
	known := map[string]string{
		"date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "time": "12:00:00Z",
		"email": "demo@example.com", "uri": "https://example.com/", "ipv4": "192.0.2.1",
		"uuid": "00000000-0000-4000-8000-000000000000",
	}
	text, ok := known[s.Format]
	if !ok {
		text = strings.TrimSpace("demo " + name)
	}
	return text + strings.Repeat(".", min(max(s.MinLength-len(text), 0), maxLength))
}

// resolve returns the target of a reference into the same document.
func (p *sampler) resolve(ref string) json.RawMessage {
	node := p.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#"), "/") {
		if step == "" {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(node, &members) != nil {
			return nil
		}
		node = members[step]
	}
	return node
}
