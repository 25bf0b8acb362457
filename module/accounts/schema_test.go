package accounts

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schema is a node of the document.
type schema = map[string]any

var parsedDocument = sync.OnceValue(func() schema {
	var parsed schema
	if err := json.Unmarshal(openAPIDocument, &parsed); err != nil {
		panic(err)
	}
	return parsed
})

// at walks down the document.
func at(node schema, names ...string) schema {
	for _, name := range names {
		node, _ = node[name].(schema)
	}
	return node
}

// resolve follows a reference, if the node is one alone.
func resolve(node schema) schema {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	return at(parsedDocument(), strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

// conforms says how a value differs from a schema, "" if it does not. It knows
// the words that the document uses, and no others.
func conforms(s schema, value any, path string) string {
	for _, word := range slices.Sorted(maps.Keys(s)) {
		if complaint := conformsTo(word, s, value, path); complaint != "" {
			return complaint
		}
	}
	return ""
}

func conformsTo(word string, s schema, value any, path string) string {
	object, isObject := value.(map[string]any)
	switch word {
	case "description":
	case "$ref":
		return conforms(resolve(s), value, path)
	case "type":
		return hasType(s["type"], value, path)
	case "const":
		if !reflect.DeepEqual(s["const"], value) {
			return fmt.Sprintf("%s: %v is not %v", path, value, s["const"])
		}
	case "enum":
		if !slices.Contains(s["enum"].([]any), value) {
			return fmt.Sprintf("%s: %v is none of %v", path, value, s["enum"])
		}
	case "required":
		for _, name := range s["required"].([]any) {
			if _, ok := object[name.(string)]; isObject && !ok {
				return fmt.Sprintf("%s: %v is missing", path, name)
			}
		}
	case "properties":
		for name, member := range at(s, "properties") {
			if v, ok := object[name]; ok {
				if complaint := conforms(member.(schema), v, path+"."+name); complaint != "" {
					return complaint
				}
			}
		}
	case "additionalProperties":
		for name := range object {
			if _, ok := at(s, "properties")[name]; !ok {
				return fmt.Sprintf("%s: %s is not described", path, name)
			}
		}
	case "items":
		list, _ := value.([]any)
		for i, item := range list {
			if complaint := conforms(at(s, "items"), item, fmt.Sprintf("%s[%d]", path, i)); complaint != "" {
				return complaint
			}
		}
	case "oneOf":
		return conformsToOne(s["oneOf"].([]any), value, path)
	default:
		return path + ": the schema has the word " + word
	}
	return ""
}

func conformsToOne(choices []any, value any, path string) string {
	fitting := 0
	for _, choice := range choices {
		if conforms(choice.(schema), value, path) == "" {
			fitting++
		}
	}
	if fitting != 1 {
		return fmt.Sprintf("%s: fits %d of the choices", path, fitting)
	}
	return ""
}

func hasType(types, value any, path string) string {
	if one, ok := types.(string); ok {
		types = []any{one}
	}
	if !slices.ContainsFunc(types.([]any), func(name any) bool { return isOfType(name.(string), value) }) {
		return fmt.Sprintf("%s: %T is no %v", path, value, types)
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

// check holds an answer against the document and notes that it was given.
func (s *site) check(r *http.Request, answer told) {
	s.t.Helper()
	assert.Equal(s.t, "application/json", answer.header.Get("Content-Type"))
	var body any
	require.NoError(s.t, json.Unmarshal([]byte(answer.body), &body), answer.body)
	path := documented(r.URL.Path)
	operation := at(parsedDocument(), "paths", path, strings.ToLower(r.Method))
	name := fmt.Sprintf("%s %s %d", r.Method, path, answer.status)
	response := resolve(at(operation, "responses", fmt.Sprint(answer.status)))
	if answer.status == http.StatusMethodNotAllowed || strings.HasPrefix(answer.body, `{"success":false`) && answer.status == http.StatusOK {
		// what the document says of all paths, and of login_status compat
		response = at(parsedDocument(), "components", "responses", "Invalid")
	}
	require.NotNil(s.t, response, "%s is not in the document: %s", name, answer.body)
	assert.Empty(s.t, conforms(at(response, "content", "application/json", "schema"), body, ""), "%s: %s", name, answer.body)
	if path != "/api/openapi.json" {
		assert.Equal(s.t, "no-store", answer.header.Get("Cache-Control"), name)
	}
	if at(response, "headers", "Retry-After") != nil {
		assert.Regexp(s.t, `^[1-9][0-9]*$`, answer.header.Get("Retry-After"), name)
	}
	s.given[name] = true
}

// documented is a path as the document names it: with the last slash where it
// may be left out.
func documented(path string) string {
	for _, row := range public {
		if _, ok := row.match(path); !ok {
			continue
		}
		if row.path == "/api/user" || row.path == "/api/token" {
			return row.path + "/"
		}
		return row.path
	}
	return path
}

// operations calls f for each operation of the accounts.
func operations(f func(method, path string, operation schema)) {
	for path, item := range at(parsedDocument(), "paths") {
		if !strings.HasPrefix(path, "/api/") {
			continue
		}
		for method, operation := range item.(schema) {
			f(strings.ToUpper(method), path, operation.(schema))
		}
	}
}

func TestDocumentAndRouteTableNameTheSameOperations(t *testing.T) {
	described, routed := map[string]bool{}, map[string]bool{}
	operations(func(method, path string, _ schema) { described[method+" "+path] = true })
	for _, row := range public {
		for method := range row.methods {
			routed[method+" "+documented(strings.ReplaceAll(row.path, "{id}", "1"))] = true
		}
	}
	assert.Equal(t, described, routed)
}
