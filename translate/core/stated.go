package core

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// stated finds members of a valid request by their paths, which have no indices.
type stated struct {
	body    []byte
	members map[string]place // of the body; nil until the first of them is read, since bodies may be long
}

// place is where a member is in the body. The zero place is that of none.
type place struct{ name, value translate.Span }

// raw returns the value of a member, nil for none.
func (s *stated) raw(path string) []byte {
	if found := s.at(path); !found.value.Empty() {
		return s.body[found.value.Start:found.value.End]
	}
	return nil
}

// at returns the place of a member. Names in the path are found in snake case as well.
func (s *stated) at(path string) (found place) {
	if s.members == nil {
		s.members = s.inside(jsonscan.Skipped(s.body), 0)
	}
	members, nested := s.members, false
	for name := range strings.SplitSeq(path, ".") {
		if nested {
			members = s.inside(jsonscan.Again(s.body[found.value.Start:found.value.End]), found.value.Start)
		}
		var ok bool
		if found, ok = members[name]; !ok {
			found = members[jsonscan.SnakeCase(name)]
		}
		nested = true
	}
	return found
}

// inside returns the places of the members of an object that begins at an offset of the body. It is
// empty for a value of another kind.
func (s *stated) inside(c jsonscan.Cursor, offset int) map[string]place {
	members := make(map[string]place)
	if !c.EnterObject() {
		return members
	}
	for c.Member() {
		name, start := string(c.Name()), offset+c.MemberStart()
		quoted := jsonscan.Again(s.body[start:])
		end := start + len(quoted.Skip())
		value := offset + c.Offset()
		members[name] = place{translate.Span{Start: start, End: end}, translate.Span{Start: value, End: value + len(c.Skip())}}
	}
	return members
}
