package jsonschema

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Member is a member of a schema.
type Member struct {
	Name  string // escaped
	Value []byte // raw
}

// Schema is one schema: the outermost, or one inside another.
type Schema struct {
	Members []Member // an edit may replace, add and remove members
	// Path is the path from the outermost schema, with "*" for every index and for every name
	// that the author of the schema chose: ".properties.*.items". It is valid during the edit.
	Path []byte
}

// Raw returns the raw value of a member, nil for none.
func (s *Schema) Raw(name string) []byte {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return s.Members[i].Value
		}
	}
	return nil
}

// Set replaces the value of a member, or adds the member.
func (s *Schema) Set(name string, value []byte) {
	for i := range s.Members {
		if s.Members[i].Name == name {
			s.Members[i].Value = value
			return
		}
	}
	s.Members = append(s.Members, Member{name, value})
}

// remove leaves a member out.
func (s *Schema) remove(name string) {
	s.Members = slices.DeleteFunc(s.Members, func(m Member) bool { return m.Name == name })
}

// holding are the members whose value is a schema or a list of schemas, naming those whose
// value is an object of schemas by names that the author chose.
var (
	holding = set("items", "prefixItems", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
		"contains", "propertyNames", "not", "if", "then", "else", "anyOf", "oneOf", "allOf")
	naming = set("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
)

func set(names ...string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// mostWork bounds the sizes of all schemas that are edited, those inside others included, in bytes.
// A schema of megabytes deep inside others would be read once for each of them.
const mostWork = 64 << 20

// Append appends a schema after an edit, which gets every schema before those inside it. A
// reference is not followed. deep is the path of a schema that is as it was, since the edit would
// cost too much; "" for none.
func Append(dst, schema []byte, edit func(*Schema)) (_ []byte, deep string) {
	w := walker{edit: edit, left: mostWork}
	return w.append(dst, schema), w.deep
}

type walker struct {
	edit func(*Schema)
	path []byte
	left int // of mostWork
	deep string
}

// append appends a schema; true and false are schemas as well.
func (w *walker) append(dst, raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return append(dst, raw...)
	}
	if w.left -= len(raw); w.left < 0 {
		w.deep = cmp.Or(w.deep, string(w.path))
		return append(dst, raw...)
	}
	s := Schema{Path: w.path}
	for name, value := range jsonscan.Members(raw) {
		s.Members = append(s.Members, Member{string(name), value})
	}
	w.edit(&s)
	dst = append(dst, '{')
	for i, m := range s.Members {
		dst = appendName(dst, i, m.Name)
		depth := len(w.path)
		switch {
		case naming[m.Name] && len(m.Value) > 0 && m.Value[0] == '{':
			dst = w.appendNamed(dst, m)
		case holding[m.Name]:
			dst = w.appendHeld(dst, m)
		default:
			dst = append(dst, m.Value...)
		}
		w.path = w.path[:depth]
	}
	return append(dst, '}')
}

// appendName appends the name of the member with an index.
func appendName(dst []byte, i int, name string) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}

// appendNamed appends an object of schemas.
func (w *walker) appendNamed(dst []byte, m Member) []byte {
	w.path = append(append(append(w.path, '.'), m.Name...), ".*"...)
	dst = append(dst, '{')
	i := 0
	for name, schema := range jsonscan.Members(m.Value) {
		dst = w.append(appendName(dst, i, string(name)), schema)
		i++
	}
	return append(dst, '}')
}

// appendHeld appends a schema, or a list of schemas.
func (w *walker) appendHeld(dst []byte, m Member) []byte {
	w.path = append(append(w.path, '.'), m.Name...)
	if len(m.Value) == 0 || m.Value[0] != '[' {
		return w.append(dst, m.Value)
	}
	w.path = append(w.path, ".*"...)
	dst = append(dst, '[')
	for i, schema := range Elements(m.Value) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.append(dst, schema)
	}
	return append(dst, ']')
}

// Elements returns the raw elements of an array, none of another value.
func Elements(array []byte) (list [][]byte) {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	c := jsonscan.Again(array)
	for c.EnterArray(); c.Element(); {
		list = append(list, c.Skip())
	}
	return list
}

// List returns an array of raw values.
func List(values [][]byte) []byte {
	list := []byte{'['}
	for i, value := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, value...)
	}
	return append(list, ']')
}

// IsType reports whether a schema states a type, alone or among others.
func (s *Schema) IsType(word string) bool { return hasType(s.Raw("type"), word) }

// hasType reports whether a type, or a list of types, has a word.
func hasType(raw []byte, word string) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return string(jsonscan.DecodedOf(raw)) == word
	}
	c := jsonscan.Again(raw)
	found := false
	for c.EnterArray(); c.Element(); {
		found = string(jsonscan.DecodedOf(c.Skip())) == word || found
	}
	return found
}
