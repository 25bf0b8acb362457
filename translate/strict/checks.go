package strict

import (
	"math"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Required is the message about a missing field.
const Required = "required"

// maxShown is the length, in bytes, of the longest value that a message repeats.
const maxShown = 64

// Got returns the end of a message about the value at the cursor, with the kind of the
// value, but never the value itself.
func (p *Pass) Got() string { return ", got " + p.JSON.Kind().String() }

// Refuse notes a fault of the value at the cursor, and skips it. what is the requirement.
func (p *Pass) Refuse(what string) {
	p.Note(what)
	p.JSON.Skip()
}

// WantString checks that the value is a string; what is the requirement in the message.
func (p *Pass) WantString(what string) {
	if _, ok := p.JSON.RawString(); !ok {
		p.Refuse(what)
	}
}

// WantText checks a string and returns its text, which is valid until the next call.
func (p *Pass) WantText() (text []byte, ok bool) {
	if text, ok = p.JSON.Text(); !ok {
		p.Refuse("must be a string" + p.Got())
	}
	return text, ok
}

// Flag checks a boolean and returns it.
func (p *Pass) Flag() bool {
	value, ok := p.JSON.Bool()
	if !ok {
		p.Refuse("must be a boolean" + p.Got())
	}
	return value
}

// Between checks a number between two bounds, both allowed.
func (p *Pass) Between(low, high float64) {
	what := func() string {
		return "must be between " + strconv.FormatFloat(low, 'f', -1, 64) +
			" and " + strconv.FormatFloat(high, 'f', -1, 64)
	}
	raw, ok := p.JSON.Number()
	if !ok {
		p.Refuse(what() + p.Got())
		return
	}
	// A number beyond the range of floats is read as an infinity.
	if f, _ := strconv.ParseFloat(string(raw), 64); !(low <= f && f <= high) {
		p.NoteValue(what(), shown(raw))
	}
}

// WantInteger checks a number with an integral value, however it is written and
// however large it is, and returns it; nil where the value is none.
func (p *Pass) WantInteger() []byte {
	raw, ok := p.JSON.Number()
	switch {
	case !ok:
		p.Refuse("must be an integer")
	case !integral(raw):
		p.Note("must be an integer")
	default:
		return raw
	}
	return nil
}

// Count checks an integer below 2^63 and returns it. It returns 0 for a negative number,
// whose meaning differs between servers.
func (p *Pass) Count() int64 {
	raw := p.WantInteger()
	if raw == nil {
		return 0
	}
	n, exact := jsonscan.ParseInt(raw)
	if !exact && raw[0] != '-' {
		p.NoteValue("must be at most "+strconv.FormatInt(math.MaxInt64, 10), shown(raw))
	}
	return max(0, n)
}

// AtLeast checks an integer that is neither below least nor above most, and
// returns it.
func (p *Pass) AtLeast(least, most int64) int64 {
	what := func() string { return "must be an integer of at least " + strconv.FormatInt(least, 10) }
	raw, ok := p.JSON.Number()
	if !ok {
		p.Refuse(what() + p.Got())
		return 0
	}
	n, exact := jsonscan.ParseInt(raw)
	switch {
	case !exact && integral(raw) && raw[0] != '-', exact && n > most:
		p.NoteValue("must be at most "+strconv.FormatInt(most, 10), shown(raw))
	case !exact, n < least:
		p.NoteValue(what(), shown(raw))
	}
	return n
}

// shown returns the end of a message that repeats a number.
func shown(raw []byte) string {
	if len(raw) > maxShown {
		return ", got number"
	}
	return ", got " + string(raw)
}

// Shown returns the end of a message that repeats a string of a closed set, or "" if the
// string is too long.
func Shown(value []byte) string {
	if len(value) > maxShown {
		return ""
	}
	return ", got '" + string(value) + "'"
}
