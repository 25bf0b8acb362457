package jsonschema

import (
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
	if !RootOf(schema).Has(Refused) {
		return schema, nil
	}
	r := outermost{schema: schema}
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

// outermost is a schema of arguments that takes over what the choices at its root have. Its author
// decides how many choices, references and names it has: none of them is searched for one by one.
type outermost struct {
	Schema
	schema     []byte
	lost       translate.Losses
	properties []property        // of the schemas of choices
	places     map[string]int    // of properties, by name
	seen       map[string]bool   // the schemas of properties, behind the names
	defined    map[string][]byte // the definitions of the root, by the references to them
	required   [][]byte          // raw names that are required beside those of the root
}

// property is a property of one or several schemas of a choice.
type property struct {
	name    string   // escaped
	schemas [][]byte // different ones
}

func (r *outermost) lose(name string) {
	r.lost.AddNamed(translate.Shaping, ".", []byte(name))
	r.remove(name)
}

// merge takes over the properties of the schemas of a choice, and what each of them requires, or
// any of them if all of them hold.
func (r *outermost) merge(schemas [][]byte, all bool) {
	var common [][]byte
	referred := make(map[string]bool)
	for i, schema := range schemas {
		if target := jsonscan.TextOf(jsonscan.MemberOf(schema, "$ref")); target != "" {
			if referred[target] {
				continue
			}
			referred[target] = true
			schema = r.resolve(target, schema)
		}
		for name, value := range jsonscan.Members(jsonscan.MemberOf(schema, "properties")) {
			r.add(string(name), value)
		}
		required := Elements(jsonscan.MemberOf(schema, "required"))
		if all || i == 0 {
			common = append(common, required...)
			continue
		}
		here := make(map[string]bool, len(required))
		for _, name := range required {
			here[string(name)] = true
		}
		common = slices.DeleteFunc(common, func(name []byte) bool { return !here[string(name)] })
	}
	r.required = append(r.required, common...)
}

// resolve returns the definition of the root to which a reference refers, nil for none, or for
// another reference the schema that has it.
func (r *outermost) resolve(target string, schema []byte) []byte {
	if r.defined == nil {
		r.defined = make(map[string][]byte)
		for _, place := range []string{"$defs", "definitions"} {
			for name, definition := range jsonscan.Members(jsonscan.MemberOf(r.schema, place)) {
				reference := "#/" + place + "/" + string(jsonscan.AppendUnescaped(nil, name))
				if _, twice := r.defined[reference]; !twice {
					r.defined[reference] = definition
				}
			}
		}
	}
	if definition, ok := r.defined[target]; ok || strings.HasPrefix(target, "#/$defs/") || strings.HasPrefix(target, "#/definitions/") {
		return definition
	}
	return schema
}

func (r *outermost) add(name string, schema []byte) {
	if r.places == nil {
		r.places, r.seen = make(map[string]int), make(map[string]bool)
	}
	key := name + `":` + string(schema) // no escaped name has a quote
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	i, known := r.places[name]
	if !known {
		i = len(r.properties)
		r.places[name] = i
		r.properties = append(r.properties, property{name: name})
	}
	r.properties[i].schemas = append(r.properties[i].schemas, schema)
}

// append returns the schema with what was taken over. The properties of the root itself hold.
func (r *outermost) append() []byte {
	properties, own := Schema{}, make(map[string]bool)
	for name, value := range jsonscan.Members(r.Raw("properties")) {
		properties.Members = append(properties.Members, Member{string(name), value})
		own[string(name)] = true
	}
	for _, p := range r.properties {
		value := p.schemas[0]
		if len(p.schemas) > 1 {
			value = append(append([]byte(`{"anyOf":`), List(p.schemas)...), '}')
		}
		if !own[p.name] {
			properties.Members = append(properties.Members, Member{p.name, value})
		}
	}
	if len(r.properties) > 0 {
		r.Set("properties", properties.object())
	}
	required, known := Elements(r.Raw("required")), make(map[string]bool)
	for _, name := range required {
		known[string(name)] = true
	}
	for _, name := range r.required {
		if !known[string(name)] {
			known[string(name)] = true
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
