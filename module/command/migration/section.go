package migration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Section is a mapping of a file, or a row of a table. Its members are read one by one, so
// that the members that nobody has read can be reported.
type Section struct {
	Place  string // in the source, such as model_list[3].litellm_params
	Values map[string]any
	read   map[string]bool
}

// NewSection returns a section with the members of a mapping; an empty one for another value.
func NewSection(place string, value any) *Section {
	values, _ := value.(map[string]any)
	return &Section{place, values, map[string]bool{}}
}

// Sections returns the rows of a table, which are objects in JSON. Their numbers stay exact.
func Sections(table string, rows []json.RawMessage) (all []*Section) {
	for i, row := range rows {
		var values any
		d := json.NewDecoder(bytes.NewReader(row))
		d.UseNumber()
		if d.Decode(&values) == nil {
			all = append(all, NewSection(fmt.Sprintf("%s[%d]", table, i), values))
		}
	}
	return all
}

// Take returns a member, and remembers that it was read; nil if there is none.
func (s *Section) Take(name string) any {
	s.read[name] = true
	return s.Values[name]
}

// Text returns a member as text; "" if there is none, or if it is a list or a mapping.
func (s *Section) Text(name string) string { return textOf(s.Take(name)) }

func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case int, int64, float64, bool, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// Number returns a member that is a number, or the text of one. In YAML, 4e-06 is a number for
// some readers and a text for others.
func (s *Section) Number(name string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s.Text(name), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// Flag reports whether a member is true. SQLite and MySQL have 1 for that.
func (s *Section) Flag(name string) bool { return s.Text(name) == "true" || s.Text(name) == "1" }

// Texts returns the elements of a member that is a list.
func (s *Section) Texts(name string) (all []string) {
	list, _ := s.Take(name).([]any)
	for _, value := range list {
		all = append(all, textOf(value))
	}
	return all
}

// List returns the mappings of a member that is a list.
func (s *Section) List(name string) (all []*Section) {
	list, _ := s.Take(name).([]any)
	for i, value := range list {
		all = append(all, NewSection(fmt.Sprintf("%s[%d]", s.Within(name), i), value))
	}
	return all
}

// Inner returns a member that is a mapping; an empty one if there is none.
func (s *Section) Inner(name string) *Section { return NewSection(s.Within(name), s.Take(name)) }

// Within returns the place of a member.
func (s *Section) Within(name string) string { return strings.TrimPrefix(s.Place+"."+name, ".") }

// Names returns the names of all members, sorted.
func (s *Section) Names() []string { return slices.Sorted(maps.Keys(s.Values)) }

// Unread returns the names of the members that nobody has read, sorted. Members without a
// value are none.
func (s *Section) Unread() (names []string) {
	for _, name := range s.Names() {
		if v := s.Values[name]; !s.read[name] && v != nil && v != false && v != "" {
			names = append(names, name)
		}
	}
	return names
}
