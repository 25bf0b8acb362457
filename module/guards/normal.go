package guards

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// costOfChange is what a part of a text that is not in its normal form counts more than its bytes.
const costOfChange = 8

// normalize returns a text in the form in which patterns search it: compatibility characters are
// replaced by those that they stand for (NFKC), digits of all scripts by 0 to 9, dashes by
// hyphens, spaces of all kinds by a space, and characters without a width are left out. It takes
// the cost of the form from what is left; whole is false if the form is cut off because the rest
// would cost more. The form of one character may have eleven times as many bytes.
func (w *walker) normalize(text string, left *int) (form string, whole bool) {
	if isASCII(text) {
		n := min(len(text), *left)
		*left -= n
		return text[:n], n == len(text)
	}
	var plain strings.Builder
	plain.Grow(min(len(text), *left))
	read := 0
	for w.begin(text); w.next(); {
		n := w.length()
		if !w.same {
			n += costOfChange
		}
		n, read = max(n, w.end-read), w.end // invisible characters have no form, but a cost
		if n > *left {
			return plain.String(), false
		}
		*left -= n
		if plain.Len()+n > plain.Cap() {
			plain.Grow(min(len(text), *left) + n)
		}
		if w.same {
			plain.WriteString(text[w.start:w.end])
		} else {
			plain.Write(w.part)
		}
	}
	return plain.String(), true
}

// origins replaces spans of the normal form of a text by those of the text itself. The text is
// walked a second time for them: a table of all offsets would be larger than the text.
func (w *walker) origins(text string, spans []*span) {
	if isASCII(text) {
		return
	}
	restore(spans, len(text), func(yield func(segment) bool) {
		for w.begin(text); w.next(); {
			if !yield(segment{span{w.start, w.end}, w.length(), w.same}) {
				return
			}
		}
	})
}

// segment is a part of a text, and the length of its form.
type segment struct {
	span
	length int
	same   bool // the form is the part itself
}

// restore replaces spans of the form of a text by those of the text, which has the length size and consists
// of segments.
func restore(spans []*span, size int, segments iter.Seq[segment]) {
	if len(spans) == 0 {
		return
	}
	type end struct {
		bound *int
		start bool
	}
	ends := make([]end, 0, 2*len(spans))
	for _, s := range spans {
		ends = append(ends, end{&s.start, true}, end{&s.end, false})
	}
	slices.SortFunc(ends, func(a, b end) int { return *a.bound - *b.bound })
	begin := 0 // of the segment in the form
	for p := range segments {
		for ; len(ends) > 0 && *ends[0].bound < begin; ends = ends[1:] {
			*ends[0].bound = p.start // within the segment before, which replaces all up to here
		}
		for ; len(ends) > 0 && *ends[0].bound < begin+p.length; ends = ends[1:] {
			offset := *ends[0].bound - begin
			if !p.same && !ends[0].start && offset > 0 {
				break
			}
			if !p.same {
				offset = 0
			}
			*ends[0].bound = p.start + offset
		}
		if len(ends) == 0 {
			return
		}
		begin += p.length
	}
	for _, e := range ends {
		*e.bound = size
	}
}

// walker reads the normal form of texts part by part.
type walker struct {
	text  string
	table *classTable
	forms map[string]string // of what is not in the form NFKC
	clean int               // the text is in the form NFKC up to there

	start, end int    // of the part in the text
	same       bool   // the part is the same in both forms
	part       []byte // the normal form of a part that is not the same
}

// begin begins a text.
func (w *walker) begin(text string) {
	*w = walker{text: text, table: classes(), forms: w.forms, part: w.part}
}

// length returns the length of the normal form of the part.
func (w *walker) length() int {
	if w.same {
		return w.end - w.start
	}
	return len(w.part)
}

// next reads the next part, and returns false at the end of the text.
func (w *walker) next() bool {
	w.part = w.part[:0]
	for len(w.part) == 0 {
		w.start = w.end
		if w.start == len(w.text) {
			return false
		}
		r, size := utf8.DecodeRuneInString(w.text[w.start:])
		foreign := w.table.is(r, foreign)
		if w.start >= w.clean && !foreign {
			w.clean = w.start + norm.NFKC.QuickSpanString(w.text[w.start:])
		}
		if w.end = w.ordinary(); w.end > w.start {
			w.same = true
			return true
		}
		w.same = false
		w.end = w.start + size
		if w.start < w.clean {
			w.add(r)
			continue
		}
		if next, _ := utf8.DecodeRuneInString(w.text[w.end:]); !foreign || w.table.is(next, joining) {
			w.end = w.start + norm.NFKC.NextBoundaryInString(w.text[w.start:], true)
		}
		w.change(w.text[w.start:w.end])
	}
	return true
}

// mostForms bounds the forms that are remembered.
const mostForms = 4 << 10

// change sets the part to the normal form of a few characters that belong together. Texts repeat
// them, and a form may be expensive.
func (w *walker) change(segment string) {
	form, known := w.forms[segment]
	if !known {
		form = norm.NFKC.String(segment)
		if w.forms == nil {
			w.forms = make(map[string]string)
		}
		if len(w.forms) < mostForms {
			w.forms[segment] = form
		}
	}
	for _, r := range form {
		w.add(r)
	}
}

// ordinary returns the end of the ordinary characters in the form NFKC.
func (w *walker) ordinary() int {
	i := w.start
	for i < w.clean {
		size := 1
		if w.text[i] >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(w.text[i:]); w.table.classAt(r) != ordinary {
				break
			}
		}
		i += size
	}
	return i
}

// add adds the normal form of a character to the part.
func (w *walker) add(r rune) {
	switch c := w.table.classAt(r); c {
	case ordinary:
		w.part = utf8.AppendRune(w.part, r)
	case invisible:
	case dash:
		w.part = append(w.part, '-')
	case space:
		w.part = append(w.part, ' ')
	default:
		w.part = append(w.part, '0'+byte(c-zero))
	}
}

// class is what becomes of a character: ordinary characters stay.
type class uint8

const (
	ordinary class = iota
	invisible
	dash
	space
	zero // to zero+9
)

// The properties of characters, beside their class.
const (
	foreign class = 1 << 6 // no character of the form NFKC
	joining class = 1 << 7 // may be a part of the character before it
)

// classTable are the classes and properties of the characters of the first two planes.
type classTable [0x20000]class

// classes returns the table, which the first text that is not ASCII fills.
var classes = sync.OnceValue(func() *classTable {
	t := new(classTable)
	for r := rune(utf8.RuneSelf); int(r) < len(t); r++ {
		text := string(r)
		t[r] = classOf(r)
		if norm.NFKC.QuickSpanString(text) == 0 {
			t[r] |= foreign
		}
		if !norm.NFKC.PropertiesString(text).BoundaryBefore() {
			t[r] |= joining
		}
	}
	return t
})

// classAt returns the class of a character.
func (t *classTable) classAt(r rune) class {
	if int(r) < len(t) {
		return t[r] &^ (foreign | joining)
	}
	return classOf(r)
}

// is reports whether a character has a property. One of another plane may join the one before it.
func (t *classTable) is(r rune, property class) bool {
	if int(r) < len(t) {
		return t[r]&property != 0
	}
	return property == joining
}

// classOf returns the class of a character that is not ASCII: models read a number the same in
// the digits of each script, and with each dash.
func classOf(r rune) class {
	const minus = '\u2212'
	switch {
	case aigateway.IsInvisible(r):
		return invisible
	case r == minus, unicode.Is(unicode.Pd, r):
		return dash
	case unicode.IsSpace(r):
		return space
	case !unicode.Is(unicode.Nd, r):
		return ordinary
	}
	digit := zero // the digits of a script follow each other, from 0 to 9
	for q := r - 1; unicode.Is(unicode.Nd, q); q-- {
		digit++
	}
	return zero + (digit-zero)%10
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
