package jsonschema

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Separated returns a schema whose references and choices are alone: a reference has no members
// beside it, the type beside a choice is that of each of its schemas, and the definitions of the
// root are its $defs. The bytes are the same if the schema has that form. lost has what differs,
// by its path in the schema. (github.com/MoonshotAI/walle, docs/mfjs-spec.md)
func Separated(schema []byte) (_ []byte, lost translate.Losses) {
	if !bytes.Contains(schema, []byte(`"$ref"`)) && !bytes.Contains(schema, []byte(`"anyOf"`)) {
		return schema, nil
	}
	var s separator
	separated, _ := Append(nil, schema, s.edit)
	if !s.changed {
		return schema, nil
	}
	return separated, s.lost
}

type separator struct {
	lost    translate.Losses
	moved   bool // the definitions of the root
	changed bool
}

func (p *separator) edit(s *Schema) {
	inner := len(s.Path) > 0
	if !inner && s.Raw("$defs") == nil {
		for i := range s.Members {
			if s.Members[i].Name == "definitions" {
				s.Members[i].Name, p.moved, p.changed = "$defs", true, true
			}
		}
	}
	if reference := s.Raw("$ref"); reference != nil && inner { // the root is an object in any case
		p.isolate(s, reference)
	} else if choice := s.Raw("anyOf"); choice != nil && s.Raw("type") != nil {
		p.share(s, choice)
	}
}

// isolate leaves nothing but the reference.
func (p *separator) isolate(s *Schema, reference []byte) {
	if rest, old := bytes.CutPrefix(reference, []byte(`"#/definitions/`)); old && p.moved {
		reference = append([]byte(`"#/$defs/`), rest...)
	}
	for _, m := range s.Members {
		switch {
		case m.Name == "$ref", m.Name == "type": // what is referred to has a type
		case annotating[m.Name]:
			p.lost.AddNamed(translate.Hint, string(s.Path)+".", []byte(m.Name))
		default:
			p.lost.AddNamed(translate.Shaping, string(s.Path)+".", []byte(m.Name))
		}
	}
	p.changed = p.changed || len(s.Members) > 1
	s.Members = []Member{{"$ref", reference}}
}

// annotating are the members without which a schema accepts the same.
var annotating = set("description", "title", "default", "examples", "example", "$comment", "deprecated", "readOnly", "writeOnly")

// share moves the type into the schemas of a choice that have none.
func (p *separator) share(s *Schema, choice []byte) {
	schemas := Elements(choice)
	for i, raw := range schemas {
		if !isSchema(raw) || jsonscan.MemberOf(raw, "type") != nil || jsonscan.MemberOf(raw, "$ref") != nil {
			continue
		}
		typed := append([]byte(`{"type":`), s.Raw("type")...)
		if !jsonscan.IsEmptyList(raw) {
			typed = append(typed, ',')
		}
		schemas[i] = append(typed, raw[1:]...)
	}
	s.Set("anyOf", List(schemas))
	s.remove("type")
	p.changed = true
}
