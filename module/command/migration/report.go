package migration

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Kind is what became of something of the source.
type Kind int

// The kinds of notes, the most important first.
const (
	Unsafe  Kind = iota // a protection is lost
	Lost                // there is no counterpart
	Changed             // the counterpart differs
)

func (k Kind) String() string { return [...]string{"PROTECTION LOST", "left out", "changed"}[k] }

// Note is a difference between the source and the gateway that comes of it. It contains no
// secret.
type Note struct {
	Kind  Kind
	Place string // in the source, such as model_list[3]
	Text  string
}

// Report is what an operator should know of a migration. The zero Report is empty.
type Report struct {
	Notes []Note
	Kept  []string // what came over, such as "12 models"
	Unset []string // variables of the environment that the Caddyfile reads, to be set by the operator
}

// Add adds a note.
func (r *Report) Add(kind Kind, place, format string, args ...any) {
	r.Notes = append(r.Notes, Note{kind, OneLine(place), OneLine(fmt.Sprintf(format, args...))})
}

// Complete reports whether nothing was left out.
func (r *Report) Complete() bool {
	return !slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Kind < Changed })
}

// Sorted returns the notes, those of lost protections first.
func (r *Report) Sorted() []Note {
	notes := slices.Clone(r.Notes)
	slices.SortStableFunc(notes, func(a, b Note) int { return int(a.Kind) - int(b.Kind) })
	return notes
}

// Write writes the report: a line for each note, those of lost protections first, what came
// over, and the variables to set.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	count := map[Kind]int{}
	for _, n := range r.Sorted() {
		count[n.Kind]++
		fmt.Fprintf(&b, "%s  %s: %s\n", n.Kind, n.Place, n.Text)
	}
	fmt.Fprintf(&b, "\n%s; %d changed, %d left out", strings.Join(r.Kept, ", "), count[Changed], count[Lost]+count[Unsafe])
	if n := count[Unsafe]; n > 0 {
		fmt.Fprintf(&b, ", %d of them protections", n)
	}
	b.WriteString(".\n")
	if len(r.Unset) > 0 {
		fmt.Fprintf(&b, "Variables to set: %s.\n", strings.Join(r.Unset, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
