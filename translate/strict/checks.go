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
func (v *Value) Got() string { return ", got " + v.JSON.Kind().String() }

// Refuse notes a fault of the value at the cursor, and skips it. what is the requirement.
func (v *Value) Refuse(what string) {
	v.Note(what)
	v.JSON.Skip()
}

// WantString checks that the value is a string; what is the requirement in the message.
func (v *Value) WantString(what string) {
	if _, ok := v.JSON.RawString(); !ok {
		v.Refuse(what)
	}
}

// WantText checks a string and returns its text, which is valid until the next call.
func (v *Value) WantText() (text []byte, ok bool) {
	if text, ok = v.JSON.Text(); !ok {
		v.Refuse("must be a string" + v.Got())
	}
	return text, ok
}

// Flag checks a boolean and returns it.
func (v *Value) Flag() bool {
	value, ok := v.JSON.Bool()
	if !ok {
		v.Refuse("must be a boolean" + v.Got())
	}
	return value
}

// Between checks a number between two bounds, both allowed.
func (v *Value) Between(low, high float64) {
	what := func() string {
		return "must be between " + strconv.FormatFloat(low, 'f', -1, 64) +
			" and " + strconv.FormatFloat(high, 'f', -1, 64)
	}
	raw, ok := v.JSON.Number()
	if !ok {
		v.Refuse(what() + v.Got())
		return
	}
	// A number beyond the range of floats is read as an infinity.
	if f, _ := strconv.ParseFloat(string(raw), 64); !(low <= f && f <= high) {
		v.NoteValue(what(), shown(raw))
	}
}

// WantInteger checks a number with an integral value, however it is written and
// however large it is, and returns it; nil where the value is none.
func (v *Value) WantInteger() []byte {
	raw, ok := v.JSON.Number()
	switch {
	case !ok:
		v.Refuse("must be an integer")
	case !integral(raw):
		v.Note("must be an integer")
	default:
		return raw
	}
	return nil
}

// Count checks an integer below 2^63 and returns it. It returns 0 for a negative number,
// whose meaning differs between servers.
func (v *Value) Count() int64 {
	raw := v.WantInteger()
	if raw == nil {
		return 0
	}
	n, exact := jsonscan.ParseInt(raw)
	if !exact && raw[0] != '-' {
		v.NoteValue("must be at most "+strconv.FormatInt(math.MaxInt64, 10), shown(raw))
	}
	return max(0, n)
}

// AtLeast checks an integer that is neither below least nor above most, and
// returns it.
func (v *Value) AtLeast(least, most int64) int64 {
	what := func() string { return "must be an integer of at least " + strconv.FormatInt(least, 10) }
	raw, ok := v.JSON.Number()
	if !ok {
		v.Refuse(what() + v.Got())
		return 0
	}
	n, exact := jsonscan.ParseInt(raw)
	switch {
	case !exact && integral(raw) && raw[0] != '-', exact && n > most:
		v.NoteValue("must be at most "+strconv.FormatInt(most, 10), shown(raw))
	case !exact, n < least:
		v.NoteValue(what(), shown(raw))
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
