package request

import (
	"bytes"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// schemaMembers are the members of schemas in the dialect of the API whose meaning or spelling
// differs from JSON Schema.
var schemaMembers = shape.New(
	"type nullable enum anyOf example propertyOrdering format minItems maxItems minProperties maxProperties minLength maxLength properties items required",
).InSnakeCase()

// jsonSchema returns a schema of a client as JSON Schema. ofAPI is true for the dialect of the
// API. Clients send its types in the other dialect as well. ordered is false if the order of
// properties is lost.
func jsonSchema(schema []byte, ofAPI bool) (converted []byte, ordered bool) {
	if !ofAPI && !hasUpperTypes(schema) {
		return schema, true
	}
	v := schemaReader{ofAPI: ofAPI, ordered: true}
	return v.append(nil, schema), v.ordered
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

// append appends a schema, or a value that is none.
func (v *schemaReader) append(dst, schema []byte) []byte {
	if len(schema) == 0 || schema[0] != '{' {
		return append(dst, schema...)
	}
	nullable, order := false, [][]byte(nil)
	for name, value := range jsonscan.Members(schema) {
		switch memberOf(schemaMembers, name) {
		case "nullable":
			nullable = v.ofAPI && jsonscan.IsTrue(value)
		case "propertyOrdering":
			order = elements(value)
		}
	}
	start, out := len(dst), core.Members(dst)
	for raw, value := range jsonscan.Members(schema) {
		name := string(raw)
		if known := memberOf(schemaMembers, raw); known != "" && v.ofAPI {
			name = known
		}
		v.appendMember(&out, name, value, nullable, order)
	}
	if len(out) == start {
		return append(out, "{}"...)
	}
	out[start] = '{'
	return append(out, '}')
}

// appendMember appends a member of a schema.
func (v *schemaReader) appendMember(out *core.Members, name string, value []byte, nullable bool, order [][]byte) {
	switch name {
	case "type":
		out.Name(name)
		*out = appendTypes(*out, value, nullable)
	case "properties", "$defs", "definitions":
		out.Name(name)
		*out = v.appendProperties(*out, value, order)
	case "items", "additionalProperties", "not":
		out.Name(name)
		*out = v.append(*out, value)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		choices := elements(value)
		if nullable && name == "anyOf" {
			choices = append(choices, []byte(`{"type":"null"}`))
		}
		out.Name(name)
		*out = append(*out, '[')
		for i, choice := range choices {
			if i > 0 {
				*out = append(*out, ',')
			}
			*out = v.append(*out, choice)
		}
		*out = append(*out, ']')
	default:
		v.appendOther(out, name, value, nullable)
	}
}

// appendOther appends a member that contains no schema.
func (v *schemaReader) appendOther(out *core.Members, name string, value []byte, nullable bool) {
	switch {
	case !v.ofAPI:
	case name == "nullable", name == "example", name == "propertyOrdering", name == "format" && string(value) == `"enum"`:
		return
	case name == "enum" && nullable:
		value = list(append(elements(value), []byte("null")))
	case strings.HasPrefix(name, "min"), strings.HasPrefix(name, "max"):
		if text := jsonscan.DecodedOf(value); len(text) > 0 { // numbers of 64 bits are texts in the API
			value = text
			if _, ok := jsonscan.Integer(value); !ok {
				return
			}
		}
	}
	out.Raw(name, value)
}

// appendTypes appends a type, or a list of types, in lower case.
func appendTypes(dst, value []byte, nullable bool) []byte {
	if !nullable || !jsonscan.IsString(value) {
		return append(dst, bytes.ToLower(value)...)
	}
	return append(append(append(dst, '['), bytes.ToLower(value)...), `,"null"]`...)
}

// appendProperties appends schemas by their names, in the order of the list if that has all of
// the names.
func (v *schemaReader) appendProperties(dst, object []byte, order [][]byte) []byte {
	var all []property
	for name, schema := range jsonscan.Members(object) {
		all = append(all, property{name, schema})
	}
	places := make(map[string]int, len(order))
	for i, name := range order {
		places[string(jsonscan.Inner(name))] = i
	}
	unplaced := func(p property) bool { _, ok := places[string(p.name)]; return !ok }
	if slices.ContainsFunc(all, unplaced) {
		v.ordered = v.ordered && len(order) == 0
	} else {
		slices.SortStableFunc(all, func(a, b property) int { return places[string(a.name)] - places[string(b.name)] })
	}
	dst = append(dst, '{')
	for i, p := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), p.name...), `":`...)
		dst = v.append(dst, p.schema)
	}
	return append(dst, '}')
}

// isClosed reports whether each object in a schema has no other properties than those that it
// requires, which providers demand of schemas that answers follow strictly.
func isClosed(schema []byte) bool {
	if len(schema) == 0 || schema[0] != '{' {
		return true
	}
	var properties, required []byte
	closed, isObject := false, typeOf(schema) == "object"
	for name, value := range jsonscan.Members(schema) {
		switch string(name) {
		case "properties":
			properties, isObject = value, true
		case "required":
			required = value
		case "additionalProperties":
			closed = string(value) == "false"
		case "items", "not":
			if !isClosed(value) {
				return false
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			if slices.ContainsFunc(elements(value), func(choice []byte) bool { return !isClosed(choice) }) {
				return false
			}
		}
	}
	names := make(map[string]bool)
	for _, name := range elements(required) {
		names[string(jsonscan.Inner(name))] = true
	}
	for name, value := range jsonscan.Members(properties) {
		if !names[string(name)] || !isClosed(value) {
			return false
		}
	}
	return closed || !isObject
}
