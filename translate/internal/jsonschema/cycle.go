package jsonschema

import (
	"bytes"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// reference is a reference in a schema, to a part of the outermost one.
type reference struct{ path, target string }

// cycle returns the path of a reference by which a schema contains itself, "" for none.
func cycle(schema []byte) string {
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return ""
	}
	c := cycles{within: make(map[string][]reference), done: make(map[string]bool)}
	c.collect("#", "", schema)
	return c.from("#")
}

// cycles follows references from one definition to the next.
type cycles struct {
	within map[string][]reference // by definition, "#" for what is outside of all
	done   map[string]bool        // definitions that the search has met: whether all in them is known
}

// collect notes the references in a definition at a path, and those in the definitions in it.
func (c *cycles) collect(name, path string, definition []byte) {
	_, _ = Append(nil, definition, func(s *Schema) {
		if target := s.Raw("$ref"); target != nil {
			c.within[name] = append(c.within[name], reference{path + string(s.Path) + ".$ref", jsonscan.TextOf(target)})
		}
		for i := range s.Members {
			m := &s.Members[i]
			if m.Name != "$defs" && m.Name != "definitions" {
				continue
			}
			for defined, schema := range jsonscan.Members(m.Value) {
				inner := string(s.Path) + "." + m.Name
				c.collect(name+strings.ReplaceAll(inner, ".", "/")+"/"+string(jsonscan.AppendUnescaped(nil, defined)), path+inner+".*", schema)
			}
			m.Value = []byte("{}")
		}
	})
}

// from returns the path of a reference that leads back to a definition on the way, "" for none.
func (c *cycles) from(name string) string {
	c.done[name] = false
	for _, r := range c.within[name] {
		done, met := c.done[r.target]
		if met && !done {
			return r.path
		}
		if !met && c.within[r.target] != nil {
			if path := c.from(r.target); path != "" {
				return path
			}
		}
	}
	c.done[name] = true
	return ""
}
