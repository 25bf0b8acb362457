package jsonschema

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Root is what the outermost object of a schema of arguments has. A reader of requests notes it
// while it passes the schema, which spares writers a search of their own in every tool of every
// request. The zero value is that of a schema that nobody has read.
type Root struct {
	Read    bool // the other fields are known
	Typed   bool // it has a type
	Refused bool // it has members that services refuse there
	OddName bool // an argument has a name that the Claude API refuses
	Bare    bool // it is an object without properties
	Gaps    bool // it, or a schema inside it, has a null or an array without items
}

// ReadRoot consumes the schema at the cursor of a valid document, and returns it as it is written.
// OddName is false unless names are asked for.
func ReadRoot(c *jsonscan.Cursor, names bool) (schema []byte, root Root) {
	if c.Kind() != jsonscan.Object {
		return c.Skip(), Root{Read: true}
	}
	start, object, properties := c.Offset(), true, false
	root.Read = true
	for c.EnterObject(); c.Member(); {
		if c.Kind() == jsonscan.Null { // as if it were absent
			c.Skip()
			continue
		}
		switch string(c.Name()) {
		case "allOf", "anyOf", "oneOf", "enum", "const", "not":
			root.Refused = true
		case "type":
			root.Typed = true
			root.Refused = root.Refused || c.Kind() == jsonscan.Array
			object = hasType(c.Skip(), "object")
			continue
		case "properties":
			properties = true
			if names {
				root.OddName = readProperties(c) || root.OddName
				continue
			}
		}
		c.Skip()
	}
	end := c.Offset()
	schema = c.Document()[start:end:end]
	root.Bare = object && !properties
	root.Gaps = hasGaps(schema)
	return schema, root
}

// readProperties consumes the properties of a schema, and reports whether one of them has a name
// that the Claude API refuses.
func readProperties(c *jsonscan.Cursor) (odd bool) {
	for c.OpenObject(); c.Member(); c.Skip() {
		odd = odd || !isArgumentName(c.Name())
	}
	return odd
}

// RootOf returns the root of a schema that has been read.
func RootOf(schema []byte) Root {
	c := jsonscan.Again(schema)
	_, root := ReadRoot(&c, true)
	return root
}
