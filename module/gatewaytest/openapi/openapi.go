// Package openapi compares answers with an OpenAPI document.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// schema is a node of a document.
type schema = map[string]any

// Document is an OpenAPI document. It supports the words of JSON Schema that the document
// of the gateway uses, and reports any other word as a difference.
type Document struct{ root schema }

// ParseDocument reads a document.
func ParseDocument(t testing.TB, text []byte) *Document {
	t.Helper()
	d := new(Document)
	require.NoError(t, json.Unmarshal(text, &d.root))
	return d
}

// Operation is a method of a path.
type Operation struct {
	Method, Path string
	Statuses     []string // the documented statuses of answers, sorted
	Body         bool     // the operation reads a request body
	Secured      bool     // the operation requires a credential
}

// Operations returns the operations of all paths with a prefix, sorted by path and method.
func (d *Document) Operations(prefix string) (list []Operation) {
	paths := member(d.root, "paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !strings.HasPrefix(path, prefix) {
			continue
		}
		for _, method := range slices.Sorted(maps.Keys(member(paths, path))) {
			node := member(paths, path, method)
			security, _ := node["security"].([]any)
			list = append(list, Operation{
				strings.ToUpper(method), path, slices.Sorted(maps.Keys(member(node, "responses"))),
				node["requestBody"] != nil, len(security) > 0,
			})
		}
	}
	return list
}

// Check returns how an answer differs from its description in the document, or "". path is
// the path in the notation of the document.
func (d *Document) Check(method, path string, status int, body []byte) string {
	response := d.resolve(member(d.root, "paths", path, strings.ToLower(method), "responses", fmt.Sprint(status)))
	if response == nil {
		return fmt.Sprintf("%s %s: status %d is not documented", method, path, status)
	}
	return d.CheckResponse(response, body)
}

// Component returns a named response of the document.
func (d *Document) Component(name string) map[string]any {
	return member(d.root, "components", "responses", name)
}

// CheckResponse is Check for one response.
func (d *Document) CheckResponse(response map[string]any, body []byte) string {
	content := member(response, "content")
	if content == nil {
		if len(body) > 0 {
			return "the answer has a body"
		}
		return ""
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err.Error()
	}
	form := member(content, "application/json")
	if form == nil {
		form = member(content, "application/problem+json")
	}
	return d.conforms(member(form, "schema"), value, "body")
}

// member returns the node below a node, by the names on the way.
func member(node schema, names ...string) schema {
	for _, name := range names {
		node, _ = node[name].(schema)
	}
	return node
}

// resolve returns the target of a node that is a reference, or else the node.
func (d *Document) resolve(node schema) schema {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	return member(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

// conforms returns how a value differs from a schema, or "".
func (d *Document) conforms(s schema, value any, path string) string {
	for _, word := range slices.Sorted(maps.Keys(s)) {
		if complaint := d.conformsTo(word, s, value, path); complaint != "" {
			return complaint
		}
	}
	return ""
}

func (d *Document) conformsTo(word string, s schema, value any, path string) string {
	object, isObject := value.(map[string]any)
	switch word {
	case "description":
	case "$ref":
		return d.conforms(d.resolve(s), value, path)
	case "type":
		return hasType(s["type"], value, path)
	case "const":
		if !reflect.DeepEqual(s["const"], value) {
			return fmt.Sprintf("%s: %v is not %v", path, value, s["const"])
		}
	case "enum":
		if !slices.Contains(s["enum"].([]any), value) {
			return fmt.Sprintf("%s: %v is not one of %v", path, value, s["enum"])
		}
	case "required":
		for _, name := range s["required"].([]any) {
			if _, ok := object[name.(string)]; isObject && !ok {
				return fmt.Sprintf("%s: %v is missing", path, name)
			}
		}
	case "properties":
		for name, member := range member(s, "properties") {
			if v, ok := object[name]; ok {
				if complaint := d.conforms(member.(schema), v, path+"."+name); complaint != "" {
					return complaint
				}
			}
		}
	case "additionalProperties":
		more, some := s["additionalProperties"].(schema)
		for name, v := range object {
			if _, ok := member(s, "properties")[name]; ok {
				continue
			}
			if !some {
				return fmt.Sprintf("%s: %s is not described", path, name)
			}
			if complaint := d.conforms(more, v, path+"."+name); complaint != "" {
				return complaint
			}
		}
	case "items":
		list, _ := value.([]any)
		for i, item := range list {
			if complaint := d.conforms(member(s, "items"), item, fmt.Sprintf("%s[%d]", path, i)); complaint != "" {
				return complaint
			}
		}
	case "allOf":
		for _, part := range s["allOf"].([]any) {
			if complaint := d.conforms(part.(schema), value, path); complaint != "" {
				return complaint
			}
		}
	case "oneOf":
		if fitting := d.fitting(s["oneOf"].([]any), value, path); fitting != 1 {
			return fmt.Sprintf("%s: fits %d of the choices", path, fitting)
		}
	case "anyOf":
		if d.fitting(s["anyOf"].([]any), value, path) == 0 {
			return path + ": fits none of the choices"
		}
	default:
		return path + ": unsupported word of the schema: " + word
	}
	return ""
}

// fitting returns the number of choices that a value conforms to.
func (d *Document) fitting(choices []any, value any, path string) (fitting int) {
	for _, choice := range choices {
		if d.conforms(choice.(schema), value, path) == "" {
			fitting++
		}
	}
	return fitting
}

func hasType(types, value any, path string) string {
	if one, ok := types.(string); ok {
		types = []any{one}
	}
	if !slices.ContainsFunc(types.([]any), func(name any) bool { return isOfType(name.(string), value) }) {
		return fmt.Sprintf("%s: the type of %T is not %v", path, value, types)
	}
	return ""
}

func isOfType(name string, value any) bool {
	number, isNumber := value.(float64)
	switch name {
	case "null":
		return value == nil
	case "integer":
		return isNumber && number == float64(int64(number))
	case "number":
		return isNumber
	}
	kinds := map[string]reflect.Kind{
		"string": reflect.String, "boolean": reflect.Bool, "array": reflect.Slice, "object": reflect.Map,
	}
	return value != nil && reflect.TypeOf(value).Kind() == kinds[name]
}
