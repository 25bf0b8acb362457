package core

import (
	"iter"
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
	return s.rawAt(s.at(path))
}

// rawAt returns the value of the member at a place, nil for none.
func (s *stated) rawAt(found place) []byte {
	if found.value.Empty() {
		return nil
	}
	return s.body[found.value.Start:found.value.End]
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

// objects returns the places of the members of each object in an array.
func (s *stated) objects(array place) iter.Seq[map[string]place] {
	return func(yield func(map[string]place) bool) {
		if array.value.Empty() {
			return
		}
		c := jsonscan.Again(s.body[array.value.Start:array.value.End])
		if c.Kind() != jsonscan.Array {
			return
		}
		for c.EnterArray(); c.Element(); {
			start := array.value.Start + c.Offset()
			if !yield(s.inside(jsonscan.Again(c.Skip()), start)) {
				return
			}
		}
	}
}
