package litellm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// section is a mapping of the file. Its members are read one by one, so that the members that
// nobody has read can be reported.
type section struct {
	place  string // in the file, such as model_list[3].litellm_params
	values map[string]any
	read   map[string]bool
}

func newSection(place string, value any) *section {
	values, _ := value.(map[string]any)
	return &section{place, values, map[string]bool{}}
}

// take returns a member, and remembers that it was read; nil if there is none.
func (s *section) take(name string) any {
	s.read[name] = true
	return s.values[name]
}

// text returns a member as text; "" if there is none, or if it is a list or a mapping.
func (s *section) text(name string) string { return textOf(s.take(name)) }

func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case int, float64, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// number returns a member that is a number, or the text of one. In YAML, 4e-06 is a number for
// some readers and a text for others.
func (s *section) number(name string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s.text(name), 64)
	return n, err == nil
}

// flag reports whether a member is true.
func (s *section) flag(name string) bool { return s.text(name) == "true" }

// texts returns the elements of a member that is a list.
func (s *section) texts(name string) (all []string) {
	list, _ := s.take(name).([]any)
	for _, value := range list {
		all = append(all, textOf(value))
	}
	return all
}

// list returns the mappings of a member that is a list.
func (s *section) list(name string) (all []*section) {
	list, _ := s.take(name).([]any)
	for i, value := range list {
		all = append(all, newSection(fmt.Sprintf("%s[%d]", s.within(name), i), value))
	}
	return all
}

// inner returns a member that is a mapping; an empty one if there is none.
func (s *section) inner(name string) *section { return newSection(s.within(name), s.take(name)) }

// within returns the place of a member.
func (s *section) within(name string) string { return strings.TrimPrefix(s.place+"."+name, ".") }

// names returns the names of all members, sorted.
func (s *section) names() []string { return slices.Sorted(maps.Keys(s.values)) }

// unread returns the names of the members that nobody has read, sorted. Members without a
// value are none.
func (s *section) unread() (names []string) {
	for _, name := range s.names() {
		if v := s.values[name]; !s.read[name] && v != nil && v != false && v != "" {
			names = append(names, name)
		}
	}
	return names
}
