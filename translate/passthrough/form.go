package passthrough

import (
	"bytes"
	"iter"
	"mime"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/playtime"
)

// The bounds of a form.
const (
	maxParts = 256
	maxHead  = 8 << 10 // of a part
	maxWord  = 256     // of the model, and of others that the gateway reads
)

// delimiterOf returns the first line of a form, which separates its parts.
func delimiterOf(body []byte) []byte {
	line, _, _ := bytes.Cut(body, lineBreak)
	return line
}

var lineBreak = []byte("\r\n")

// boundaryWords are the boundaries that all servers read alike, with quotes and without.
var boundaryWords = regexp.MustCompile(`^[A-Za-z0-9'()+_,./:=?-]{1,70}$`)

// HasType reports whether the Content-Type of a request is that of the form which its body is.
func HasType(contentType string, body []byte) bool {
	kind, parameters, err := mime.ParseMediaType(contentType)
	return err == nil && kind == formType && IsForm(body) && parameters["boundary"] == boundaryOf(body)
}

// Type returns the Content-Type of a form. It is written anew, since servers differ in how they
// read one with two boundaries, or with escapes.
func Type(body []byte) string {
	return mime.FormatMediaType(formType, map[string]string{"boundary": boundaryOf(body)})
}

const formType = "multipart/form-data"

// boundaryOf returns the boundary of a form.
func boundaryOf(body []byte) string { return string(delimiterOf(body)[len("--"):]) }

// form reads the parts of a form, one by one. Nothing is decoded: the content of a part is a
// range of the body.
type form struct {
	body, delimiter []byte
	pos             int // behind the delimiter before the next part
	parts           int
	head
	content translate.Span
	broken  string // why the body is no form; "" if it is one so far
}

// formOf returns the form of a body, in front of its first part.
func formOf(body []byte) form {
	f := form{body: body, delimiter: delimiterOf(body)}
	f.pos = len(f.delimiter)
	if !IsForm(body) || !boundaryWords.Match(f.delimiter[min(len("--"), f.pos):]) {
		f.broken = "it has no boundary of 1 to 70 letters, digits and characters of '()+_,-./:=?"
	}
	return f
}

// next moves to the next part, and returns false at the end of the form, or if it is broken.
func (f *form) next() bool {
	rest := f.body[f.pos:]
	lines, _, ok := bytes.Cut(rest, []byte("\r\n\r\n"))
	f.parts++
	f.head = head{}
	switch {
	case f.broken != "":
	case bytes.HasPrefix(rest, []byte("--")):
		if len(bytes.TrimSpace(rest[2:])) > 0 {
			f.broken = "it has something behind its end"
		}
		return false
	case !bytes.HasPrefix(rest, lineBreak):
		f.broken = "a delimiter is not followed by a line break"
	case !ok || len(lines) <= len(lineBreak) || len(lines) > maxHead:
		f.broken = "a part has no head, or one of more than 8 KiB"
	case f.parts > maxParts:
		f.broken = "it has more than 256 parts"
	case bytes.Contains(lines, f.delimiter):
		f.broken = "the head of a part contains the delimiter"
	default:
		f.broken = f.readLines(string(lines[len(lineBreak):]))
	}
	if f.broken == "" {
		f.content.Start = f.pos + len(lines) + len("\r\n\r\n")
		f.broken = f.readContent()
	}
	return f.broken == ""
}

// readContent finds the end of the content. A delimiter behind another line break than CR LF is
// one to some servers.
func (f *form) readContent() (broken string) {
	for f.pos = f.content.Start; ; {
		n := bytes.Index(f.body[f.pos:], f.delimiter)
		if n < 0 {
			return "a part has no end"
		}
		pos := f.pos + n
		f.pos = pos + len(f.delimiter)
		switch head := f.body[:pos]; {
		case pos >= f.content.Start+len(lineBreak) && bytes.HasSuffix(head, lineBreak):
			f.content.End = pos - len(lineBreak)
		case head[pos-1] == '\r' || head[pos-1] == '\n':
			return "a delimiter inside a part is not behind CR LF"
		default:
			continue
		}
		if text := f.text(); !f.file && (!utf8.Valid(text) || f.ascii && bytes.ContainsFunc(text, isWide)) {
			return "a part without a filename is no text in UTF-8, or none in ASCII with another charset"
		}
		return ""
	}
}

// isWide reports whether a character is not one of ASCII.
func isWide(c rune) bool { return c > unicode.MaxASCII }

// text returns the content of the part.
func (f *form) text() []byte { return f.body[f.content.Start:f.content.End] }

// member returns the name of the member that some server takes the part for: without regard to
// letter case, and to the brackets that make a list or an object of it.
func (f *form) member() string {
	name, _, _ := strings.Cut(strings.TrimLeft(strings.ToLower(f.name), "[]"), "[")
	return strings.TrimRight(name, "]")
}

// inspectForm is the strict pass over a form.
func inspectForm(body []byte, e *endpoint) (view translate.View, refused *fault.Fault) {
	f := formOf(body)
	given := map[string]bool{}
	for f.next() {
		member := f.member()
		if what := f.read(&view, e, member, given[member]); what != "" {
			return view, fault.InvalidField(member, what)
		}
		given[member] = true
	}
	if e.unit == images {
		view.Costs.Units.Images = max(1, view.Answers)
	}
	switch {
	case f.broken != "":
		return view, fault.FormBroken(f.broken)
	case !given[e.form]:
		return view, fault.InvalidField(e.form, "required")
	case view.Model == "":
		return view, fault.InvalidField("model", "required")
	}
	return view, nil
}

// read reads what the view needs of the part, which some server takes for the member; twice is
// whether the form has had one. It returns what is required of the part, "" for one that is valid.
func (f *form) read(view *translate.View, e *endpoint, member string, twice bool) (what string) {
	word := member == "model" || member == "stream" || member == "n"
	text := f.text()
	switch {
	case member == "_charset_":
		return "must not be sent: all texts are in UTF-8"
	case !word && member != e.form:
		return ""
	case f.name != member:
		return "must be written in lower case, without brackets"
	case word && (twice || f.file || len(text) > maxWord):
		return "must be sent once, as a text of at most 256 bytes"
	case twice, f.file && e.unit != seconds:
		return "must be sent once, and not as a file"
	case member == "model":
		view.Model, view.ModelSpan = string(text), f.content
		if bytes.ContainsFunc(text, unicode.IsControl) {
			return "must have no control characters"
		}
	case member == "stream":
		var ok bool
		if view.Stream, ok = booleans[string(text)]; !ok {
			return "must be true or false"
		}
	case member == "n" && e.unit == images:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if view.Answers = n; err != nil || n < 1 || text[0] < '1' {
			return "must be an integer of at least 1"
		}
	case e.unit == seconds:
		seconds, ok := playtime.Of(text, playtime.Sound)
		if !ok {
			seconds = int64(len(text))/bytesPerSecond + 1
		}
		view.Costs.Units.Seconds, view.Costs.Units.Measured = seconds, ok
	}
	return ""
}

// booleans are the values of stream. Servers differ in how they read others, such as "on".
var booleans = map[string]bool{"true": true, "True": true, "1": true, "false": false, "False": false, "0": false}

// Fields returns the names of the parts of a form that are no files, in lower case. broken is why the
// body is no form that all servers read alike; "" if it is one.
func Fields(body []byte) (names []string, broken string) {
	f := formOf(body)
	for f.next() {
		if !f.file {
			names = append(names, strings.ToLower(f.name))
		}
	}
	return names, f.broken
}

// Texts returns an iterator over the texts of a valid form: what the heads of its parts state, and
// the contents of those that are no files.
func Texts(body []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for f := formOf(body); f.next(); {
			for _, value := range f.values {
				if !yield(value) {
					return
				}
			}
			if !f.file && !yield(string(f.text())) {
				return
			}
		}
	}
}
