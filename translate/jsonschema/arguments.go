package jsonschema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Arguments returns a schema of the arguments of a tool as services accept it at its root: an
// object with properties, and no choice among schemas, which libraries write for "one of these
// arguments". The properties of all schemas of a choice become those of the root, and what all of
// them require is required. The bytes are the same if the schema has that form. lost has what
// differs, by its path in the schema.
// (developers.openai.com/docs/guides/function-calling; platform.claude.com/docs/en/agents-and-tools/tool-use)
func Arguments(schema []byte) (_ []byte, lost translate.Losses) {
	if isPlainRoot(schema) {
		return schema, nil
	}
	r := root{schema: schema}
	for name, value := range jsonscan.Members(schema) {
		r.Members = append(r.Members, Member{string(name), value})
	}
	if len(Elements(r.Raw("type"))) > 0 && r.IsType("object") { // a call always has arguments
		r.Set("type", []byte(`"object"`))
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if raw := r.Raw(name); raw != nil {
			r.merge(Elements(raw), name == "allOf")
			r.lose(name)
		}
	}
	for _, name := range []string{"enum", "const", "not"} {
		if r.Raw(name) != nil {
			r.lose(name)
		}
	}
	return r.append(), r.lost
}

// isPlainRoot reports whether a schema has nothing at its root that services refuse there. It
// reads nearly every tool of every request, once.
func isPlainRoot(schema []byte) bool {
	c := jsonscan.Again(schema)
	for c.OpenObject(); c.Member(); c.Skip() {
		switch string(c.Name()) {
		case "allOf", "anyOf", "oneOf", "enum", "const", "not":
			return false
		case "type":
			if c.Kind() == jsonscan.Array {
				return false
			}
		}
	}
	return true
}

// root is the outermost schema.
type root struct {
	Schema
	schema     []byte
	lost       translate.Losses
	properties []property // of the schemas of choices
	required   [][]byte   // raw names that are required beside those of the root
}

// property is a property of one or several schemas of a choice.
type property struct {
	name    string   // escaped
	schemas [][]byte // different ones
}

func (r *root) lose(name string) {
	r.lost.AddNamed(translate.Shaping, ".", []byte(name))
	r.Members = slices.DeleteFunc(r.Members, func(m Member) bool { return m.Name == name })
}

// merge takes over the properties of the schemas of a choice, and what each of them requires, or
// any of them if all of them hold.
func (r *root) merge(schemas [][]byte, all bool) {
	var common [][]byte
	for i, schema := range schemas {
		schema = r.resolve(schema)
		for name, value := range jsonscan.Members(jsonscan.MemberOf(schema, "properties")) {
			r.add(string(name), value)
		}
		switch required := Elements(jsonscan.MemberOf(schema, "required")); {
		case all || i == 0:
			common = append(common, required...)
		default:
			common = slices.DeleteFunc(common, func(name []byte) bool { return !contains(required, name) })
		}
	}
	r.required = append(r.required, common...)
}

// resolve returns a schema, or the one among the definitions of the root to which it refers.
func (r *root) resolve(schema []byte) []byte {
	target := jsonscan.TextOf(jsonscan.MemberOf(schema, "$ref"))
	for _, place := range []string{"$defs", "definitions"} {
		if name, ok := strings.CutPrefix(target, "#/"+place+"/"); ok {
			return jsonscan.MemberOf(jsonscan.MemberOf(r.schema, place), name)
		}
	}
	return schema
}

func (r *root) add(name string, schema []byte) {
	i := slices.IndexFunc(r.properties, func(p property) bool { return p.name == name })
	if i < 0 {
		r.properties = append(r.properties, property{name, [][]byte{schema}})
	} else if p := &r.properties[i]; !contains(p.schemas, schema) {
		p.schemas = append(p.schemas, schema)
	}
}

func contains(values [][]byte, value []byte) bool {
	return slices.ContainsFunc(values, func(other []byte) bool { return bytes.Equal(other, value) })
}

// append returns the schema with what was taken over. The properties of the root itself hold.
func (r *root) append() []byte {
	own := r.Raw("properties")
	properties := Schema{}
	for name, value := range jsonscan.Members(own) {
		properties.Members = append(properties.Members, Member{string(name), value})
	}
	for _, p := range r.properties {
		switch {
		case properties.Raw(p.name) != nil:
		case len(p.schemas) == 1:
			properties.Set(p.name, p.schemas[0])
		default:
			properties.Set(p.name, append(append([]byte(`{"anyOf":`), List(p.schemas)...), '}'))
		}
	}
	if len(r.properties) > 0 {
		r.Set("properties", properties.object())
	}
	required := Elements(r.Raw("required"))
	for _, name := range r.required {
		if !contains(required, name) {
			required = append(required, name)
		}
	}
	if len(r.required) > 0 {
		r.Set("required", List(required))
	}
	return r.object()
}

// object returns the members as an object.
func (s *Schema) object() []byte {
	dst := []byte{'{'}
	for i, m := range s.Members {
		dst = append(appendName(dst, i, m.Name), m.Value...)
	}
	return append(dst, '}')
}
