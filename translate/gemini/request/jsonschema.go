package request

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// schemaMembers are the members of schemas in the dialect of the API whose meaning or spelling
// differs from JSON Schema.
var schemaMembers = jsonscan.NewNameIndex(
	"type", "nullable", "enum", "anyOf", "example", "propertyOrdering", "format", "minItems", "maxItems", "minProperties",
	"maxProperties", "minLength", "maxLength", "properties", "items", "required",
).InSnakeCase()

// jsonSchema returns a schema of a client as JSON Schema. ofAPI is true for the dialect of the
// API. Clients send its types in the other dialect as well. ordered is false if the order of
// properties is lost.
func jsonSchema(schema []byte, ofAPI bool) (converted []byte, ordered bool) {
	if !ofAPI && !hasUpperTypes(schema) {
		return schema, true
	}
	v := schemaReader{ofAPI: ofAPI, ordered: true}
	converted, deep := jsonschema.Append(nil, schema, v.edit)
	return converted, v.ordered && deep == ""
}

// upperTypes are the types of the dialect of the API, with the quote behind them.
var upperTypes = [][]byte{
	[]byte(`OBJECT"`), []byte(`STRING"`), []byte(`ARRAY"`), []byte(`INTEGER"`), []byte(`NUMBER"`), []byte(`BOOLEAN"`), []byte(`NULL"`),
}

// hasUpperTypes reports whether a type of the dialect of the API is somewhere in a schema.
func hasUpperTypes(schema []byte) bool {
	for i := 1; i < len(schema); i++ { // few strings begin with a capital letter
		if schema[i-1] == '"' && 'A' <= schema[i] && schema[i] <= 'S' &&
			slices.ContainsFunc(upperTypes, func(word []byte) bool { return bytes.HasPrefix(schema[i:], word) }) {
			return true
		}
	}
	return false
}

// schemaReader converts one schema to JSON Schema.
type schemaReader struct {
	ofAPI, ordered bool
}

// edit converts the members of one schema.
func (v *schemaReader) edit(s *jsonschema.Schema) {
	nullable, order := false, [][]byte(nil)
	for i := range s.Members {
		m := &s.Members[i]
		if v.ofAPI {
			m.Name = cmp.Or(schemaMembers.Name([]byte(m.Name)), m.Name)
		}
		switch m.Name {
		case "nullable":
			nullable = v.ofAPI && jsonscan.IsTrue(m.Value)
		case "propertyOrdering":
			order = jsonschema.Elements(m.Value)
		}
	}
	s.Members = slices.DeleteFunc(s.Members, func(m jsonschema.Member) bool { return v.ofAPI && isForeign(m) })
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case m.Name == "type":
			m.Value = types(m.Value, nullable)
		case m.Name == "properties":
			m.Value = v.ordering(m.Value, order)
		case m.Name == "anyOf" && nullable:
			m.Value = jsonschema.List(append(jsonschema.Elements(m.Value), []byte(`{"type":"null"}`)))
		case m.Name == "enum" && nullable:
			m.Value = jsonschema.List(append(jsonschema.Elements(m.Value), []byte("null")))
		case v.ofAPI && isBound(m.Name):
			m.Value = number(m.Value)
		}
	}
}

// isForeign reports whether JSON Schema does not have a member of the dialect of the API.
func isForeign(m jsonschema.Member) bool {
	switch m.Name {
	case "nullable", "example", "propertyOrdering":
		return true
	case "format":
		return string(m.Value) == `"enum"`
	}
	_, isNumber := jsonscan.Integer(number(m.Value))
	return isBound(m.Name) && jsonscan.IsString(m.Value) && !isNumber
}

func isBound(name string) bool {
	return strings.HasPrefix(name, "min") || strings.HasPrefix(name, "max")
}

// number returns a number that is a text in the API, since it has 64 bits.
func number(value []byte) []byte {
	if text := jsonscan.DecodedOf(value); len(text) > 0 {
		return text
	}
	return value
}

// types returns a type, or a list of types, in lower case.
func types(value []byte, nullable bool) []byte {
	lower := bytes.ToLower(value)
	if !nullable || !jsonscan.IsString(value) {
		return lower
	}
	return jsonschema.List([][]byte{lower, []byte(`"null"`)})
}

// ordering returns schemas by their names, in the order of the list if that has all of the names.
func (v *schemaReader) ordering(object []byte, order [][]byte) []byte {
	places := make(map[string]int, len(order))
	for i, name := range order {
		places[string(jsonscan.Inner(name))] = i
	}
	var all []property
	unplaced := false
	for name, schema := range jsonscan.Members(object) {
		_, placed := places[string(name)]
		unplaced = unplaced || !placed
		all = append(all, property{name, schema})
	}
	if unplaced || len(all) == 0 {
		v.ordered = v.ordered && (len(order) == 0 || !unplaced)
		return object
	}
	slices.SortStableFunc(all, func(a, b property) int { return places[string(a.name)] - places[string(b.name)] })
	var schema []byte
	for _, p := range all {
		schema = append(append(append(append(schema, ',', '"'), p.name...), `":`...), p.schema...)
	}
	schema[0] = '{'
	return append(schema, '}')
}

// isClosed reports whether each object in a schema has no other properties than those that it
// requires, which providers demand of schemas that answers follow strictly.
func isClosed(schema []byte) bool {
	closed := true
	_, deep := jsonschema.Append(nil, schema, func(s *jsonschema.Schema) {
		properties := s.Raw("properties")
		if properties == nil && !s.IsType("object") {
			return
		}
		required := make(map[string]bool)
		for _, name := range jsonschema.Elements(s.Raw("required")) {
			required[string(jsonscan.Inner(name))] = true
		}
		for name := range jsonscan.Members(properties) {
			closed = closed && required[string(name)]
		}
		closed = closed && string(s.Raw("additionalProperties")) == "false"
	})
	return closed && deep == ""
}
