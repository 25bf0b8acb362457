package models

import (
	"slices"
	"strings"
	"time"
)

// Facts are what is known of a model at a service. They do not change.
type Facts struct {
	Provider string   // the name of the preset
	Names    []string // as in the row; "*" at the end of one matches a version
	AsOf     string   // the date of the source, YYYY-MM-DD
	Source   string
	Note     string
	Builtin  bool // of the table that is compiled in

	cells     []string // in the order of columns
	traits    map[string]string
	endpoints Endpoints
	end       time.Time
}

// Value returns the value of a column of facts, "" if it is unknown.
func (f *Facts) Value(name string) string {
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	if f == nil || i < 0 {
		return ""
	}
	return f.cells[i]
}

// Known returns the columns that have values, in the order of the table.
func (f *Facts) Known() (known []string) {
	for _, c := range columns {
		if f.Value(c.name) != "" {
			known = append(known, c.name)
		}
	}
	return known
}

// Differences returns the columns in which another model has another value, with both values: "thinking:
// always, not adaptive". What is unknown of one of the models, and its end, makes no difference.
func (f *Facts) Differences(other *Facts) (differences []string) {
	for _, name := range f.Known() {
		own, value := f.Value(name), other.Value(name)
		if value != "" && value != own && !slices.Contains(ending, name) {
			differences = append(differences, name+": "+value+", not "+own)
		}
	}
	return differences
}

// ending are the columns about the end of a model.
var ending = []string{"deprecated", "shutdown", "successor"}

// Context returns the length of prompt and answer together, in tokens, 0 if it is unknown.
func (f *Facts) Context() int64 { return f.tokens("context") }

// Longest returns the length of the longest answer, in tokens, 0 if it is unknown.
func (f *Facts) Longest() int64 { return f.tokens("longest") }

func (f *Facts) tokens(column string) int64 {
	return number(f.Value(column)) // "" or a number
}

// Traits returns the traits that follow from the facts; see trait.Traits. It must not be changed.
func (f *Facts) Traits() map[string]string {
	if f == nil {
		return nil
	}
	return f.traits
}

// Endpoints is a set of endpoints for conversations.
type Endpoints uint8

// AllEndpoints has all endpoints for conversations.
const AllEndpoints = Endpoints(1)<<len(conversations) - 1

// EndpointOf returns the set with the endpoint of that name: chat, responses or completions. ok is
// false for other names.
func EndpointOf(name string) (set Endpoints, ok bool) {
	i := slices.Index(conversations[:], name)
	return 1 << max(i, 0), i >= 0
}

// Endpoints returns the endpoints for conversations that have the model, which are all if nothing
// is known.
func (f *Facts) Endpoints() Endpoints {
	if f == nil {
		return AllEndpoints
	}
	return f.endpoints
}

// endpointsOf returns the set of a list of endpoints. One that is not for conversations has no
// influence on them.
func endpointsOf(list string) (all Endpoints) {
	for name := range strings.FieldsSeq(list) {
		if set, ok := EndpointOf(name); ok {
			all |= set
		}
	}
	if all == 0 {
		return AllEndpoints
	}
	return all
}
