package beside

import (
	"bufio"
	"bytes"
	"iter"
	"mime"
	"net/textproto"
	"strconv"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// The bounds of a form.
const (
	maxDelimiter = 2 + 70 // RFC 2046, 5.1.1
	maxParts     = 256
	maxHead      = 8 << 10 // of a part
	maxField     = 256     // of the model and of other words that the gateway reads
)

// delimiterOf returns the first line of a form, which separates its parts.
func delimiterOf(body []byte) []byte {
	line, _, _ := bytes.Cut(body, []byte("\r\n"))
	return line
}

// Boundary returns the boundary of a form, as its Content-Type must have it.
func Boundary(body []byte) string { return string(delimiterOf(body)[2:]) }

// form reads the parts of a form, one by one. Nothing is decoded: the content of a part is a
// range of the body.
type form struct {
	body, delimiter []byte
	pos             int // behind the delimiter before the next part
	parts           int
	name            string
	content         translate.Span
	file            bool   // the part has the name of a file
	broken          string // why the body is no form; "" if it is one so far
}

// next moves to the next part, and returns false at the end of the form, or if it is broken.
func (f *form) next() bool {
	rest := f.body[f.pos:]
	if bytes.HasPrefix(rest, []byte("--")) {
		if len(bytes.TrimSpace(rest[2:])) > 0 {
			f.broken = "it has something behind its end"
		}
		return false
	}
	head, _, ok := bytes.Cut(rest, []byte("\r\n\r\n"))
	f.parts++
	switch {
	case !bytes.HasPrefix(rest, []byte("\r\n")):
		f.broken = "a delimiter is not followed by a line break"
	case !ok || len(head) <= 2 || len(head) > maxHead:
		f.broken = "a part has no head, or one of more than 8 KiB"
	case f.parts > maxParts:
		f.broken = "it has more than 256 parts"
	}
	if f.broken != "" {
		return false
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(bytes.Clone(head[2:]), "\r\n\r\n"...)))).ReadMIMEHeader()
	disposition, parameters, err2 := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || err2 != nil || disposition != "form-data" || len(header["Content-Disposition"]) > 1 {
		f.broken = "a part has no readable Content-Disposition of form-data"
		return false
	}
	f.name = parameters["name"]
	_, f.file = parameters["filename"]
	f.content.Start = f.pos + len(head) + 4
	end := append([]byte("\r\n"), f.delimiter...)
	n := bytes.Index(f.body[f.content.Start:], end)
	if n < 0 {
		f.broken = "a part has no end"
		return false
	}
	f.content.End = f.content.Start + n
	f.pos = f.content.End + len(end)
	return true
}

// text returns the content of the part.
func (f *form) text() string { return string(f.body[f.content.Start:f.content.End]) }

// inspectForm is the strict pass over a form.
func inspectForm(body []byte, e *endpoint) (view translate.View, refused *fault.Fault) {
	f := form{body: body, delimiter: delimiterOf(body)}
	f.pos = len(f.delimiter)
	if n := len(f.delimiter); !IsForm(body) || n <= 2 || n > maxDelimiter || n == len(body) {
		return view, fault.FormBroken("it has no boundary of 1 to 70 characters")
	}
	given := map[string]bool{}
	for f.next() {
		switch once := f.name == "model" || f.name == "stream" || f.name == "n"; {
		case once && (given[f.name] || f.file || f.content.End-f.content.Start > maxField):
			return view, fault.InvalidField(f.name, "must be sent once, as a text of at most 256 bytes")
		case !f.read(&view, e):
			return view, fault.InvalidField(f.name, "must be an integer of at least 1")
		}
		given[f.name] = true
	}
	if e.unit == images {
		view.Costs.Units.Images = max(1, view.Answers)
	}
	switch {
	case f.broken != "":
		return view, fault.FormBroken(f.broken)
	case !given[e.form]:
		return view, fault.InvalidField(e.form, "required")
	case bytes.ContainsFunc([]byte(view.Model), unicode.IsControl):
		return view, fault.InvalidField("model", "must have no control characters")
	case view.Model == "" && (given["model"] || e.byDefault == ""):
		return view, fault.InvalidField("model", "required")
	case view.Model == "":
		view.Model = e.byDefault
	}
	return view, nil
}

// read reads what the view needs of the part. It returns false for a number that is none.
func (f *form) read(view *translate.View, e *endpoint) bool {
	switch {
	case f.name == "model":
		view.Model, view.ModelSpan = f.text(), f.content
	case f.name == "stream":
		view.Stream = f.text() == "true" || f.text() == "True" || f.text() == "1"
	case f.name == "n" && e.unit == images:
		n, err := strconv.ParseInt(f.text(), 10, 64)
		view.Answers = n
		return err == nil && n >= 1
	case f.name == e.form && e.unit == seconds:
		view.Costs.Units.Seconds += int64(f.content.End-f.content.Start)/bytesPerSecond + 1
	}
	return true
}

// Fields returns an iterator over the names and contents of the parts of a valid form that are
// no files.
func Fields(body []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		f := form{body: body, delimiter: delimiterOf(body)}
		for f.pos = len(f.delimiter); f.next(); {
			if !f.file && !yield(f.name, body[f.content.Start:f.content.End]) {
				return
			}
		}
	}
}
