package jsonschema

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Filled returns a schema in which arrays have items, without which services refuse it, and members
// that are null, as some libraries write absent ones, are left out. The meaning is the same, and
// so are the bytes of a schema without such gaps.
func Filled(schema []byte) []byte {
	if !RootOf(schema).Has(Gaps) {
		return schema
	}
	filled, _ := Append(nil, schema, func(s *Schema) {
		s.Members = slices.DeleteFunc(s.Members, func(m Member) bool { return string(m.Value) == "null" && !nullable[m.Name] })
		if s.IsType("array") && s.Raw("items") == nil {
			s.Set("items", []byte("{}"))
		}
	})
	return filled
}

// WithProperties returns a schema in which an object without properties has an empty object of them.
func WithProperties(schema []byte) []byte {
	if !RootOf(schema).Has(Bare) {
		return schema
	}
	s := Schema{}
	for name, value := range jsonscan.Members(schema) {
		s.Members = append(s.Members, Member{string(name), value})
	}
	s.Set("properties", []byte("{}"))
	return s.object()
}

// nullable are the members of which null is a value.
var nullable = set("default", "const", "example")

// The texts without which a schema has no gaps.
var wordArray, wordNull = []byte(`"array"`), []byte("null")

// hasGaps reports whether a schema, or one inside it, has a null or an array without items.
func hasGaps(schema []byte) bool {
	if !bytes.Contains(schema, wordArray) && !bytes.Contains(schema, wordNull) {
		return false
	}
	c := jsonscan.Again(schema)
	return readGaps(&c)
}

// readGaps consumes a schema, and returns what hasGaps reports of it.
func readGaps(c *jsonscan.Cursor) (found bool) {
	array, items := false, false
	for c.OpenObject(); c.Member(); {
		switch name := c.Name(); {
		case c.Kind() == jsonscan.Null:
			found = found || !nullable[string(name)]
			c.Skip()
		case string(name) == "type":
			array = hasType(c.Skip(), "array")
		case naming[string(name)]:
			for c.OpenObject(); c.Member(); {
				found = readGaps(c) || found
			}
		case holding[string(name)]:
			items = items || string(name) == "items"
			found = readHeldGaps(c) || found
		default:
			c.Skip()
		}
	}
	return found || array && !items
}

// readHeldGaps is readGaps for a schema or a list of schemas.
func readHeldGaps(c *jsonscan.Cursor) (found bool) {
	if c.Kind() != jsonscan.Array {
		return readGaps(c)
	}
	for c.EnterArray(); c.Element(); {
		found = readGaps(c) || found
	}
	return found
}
