package request

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Upload is a form with a file, which is read from the client as it is read by the provider. It is
// written anew, with a boundary of its own, so that the provider finds the parts that were checked, and
// no others. It must be used by one goroutine at a time.
type Upload struct {
	form  *format.Form
	parts *multipart.Reader
	file  io.Reader // the part that is being copied; nil between parts
	given map[string]bool

	lines    *lines // nil if nobody reads those of the file
	tap      Tap    // nil if nobody reads the file
	requests atomic.Pointer[exchange.Requests]

	unread bytes.Buffer // what the provider has not read
	writer *multipart.Writer
	ended  error // why nothing more comes
}

// The bounds of an upload, in bytes.
const (
	longestText = 4 << 10  // of a part that is no file
	chunk       = 32 << 10 // of a file, which is read at once
)

// NewUpload returns the body of a request as a form, of at most limit bytes. It reads none of it.
func NewUpload(r *http.Request, form *format.Form, limit int64) (*Upload, *fault.Fault) {
	switch {
	case form.Describes == nil && !HasForm(r.Header):
		return nil, fault.NotForm()
	case len(r.Header["Content-Encoding"]) > 0:
		return nil, fault.CodingUnsupported()
	case r.ContentLength > limit:
		return nil, fault.BodyTooLarge(limit)
	}
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch hasBoundary := err == nil && parameters["boundary"] != ""; {
	case form.Describes != nil && (!hasBoundary || kind != related):
		return nil, fault.NotRelated()
	case !hasBoundary:
		return nil, fault.NotForm()
	}
	u := &Upload{form: form, given: make(map[string]bool)}
	u.parts = multipart.NewReader(http.MaxBytesReader(nil, r.Body, limit), parameters["boundary"])
	u.writer = multipart.NewWriter(&u.unread)
	return u, nil
}

// related is the type of a form whose parts have no names.
const related = "multipart/related"

// ContentType returns the type of the form that Read returns.
func (u *Upload) ContentType() string {
	if u.form.Describes != nil {
		return related + "; boundary=" + u.writer.Boundary()
	}
	return u.writer.FormDataContentType()
}

// Length returns -1: the form is written while it is read.
func (*Upload) Length() int64 { return -1 }

// Requests implements exchange.Upload.
func (u *Upload) Requests() *exchange.Requests { return u.requests.Load() }

// Read returns the next bytes of the form. Its error is io.EOF at the end of a valid form, else a
// *fault.Fault.
func (u *Upload) Read(p []byte) (int, error) {
	for u.unread.Len() == 0 && u.ended == nil {
		u.advance()
	}
	if u.unread.Len() > 0 {
		return u.unread.Read(p)
	}
	return 0, u.ended
}

// advance reads on, and sets ended at the end.
func (u *Upload) advance() {
	if u.file != nil {
		u.copyFile()
		return
	}
	part, err := u.parts.NextRawPart()
	switch {
	case err == io.EOF && !u.given[u.form.File]:
		u.ended = fault.InvalidField(u.form.File, "required")
	case err == io.EOF: // and nothing that wraps it: a form that is cut off
		if refused := u.endLines(); refused != nil {
			u.ended = refused
			return
		}
		_ = u.writer.Close() // to memory
		u.ended = io.EOF
	case err != nil:
		u.ended = brokenForm(err)
	default:
		if refused := u.begin(part); refused != nil {
			u.ended = refused
		}
	}
}

// begin writes the beginning of a part that is the file, or all of another one.
func (u *Upload) begin(part *multipart.Part) *fault.Fault {
	if u.form.Describes != nil {
		return u.beginRelated(part)
	}
	name, file := part.FormName(), part.FileName()
	switch isFile := name == u.form.File; {
	case !isFile && !slices.Contains(u.form.Texts, name):
		return fault.InvalidField(shownName(name), "is not known at this path")
	case u.given[name]:
		return fault.InvalidField(name, "must be sent once")
	case isFile && file == "":
		return fault.InvalidField(name, "must be a file, with a filename")
	case !isFile && file != "":
		return fault.InvalidField(name, "must be a text")
	}
	u.given[name] = true
	if name != u.form.File {
		return u.copyText(name, part)
	}
	disposition, plain := dispositionOf(part)
	if !plain {
		return fault.InvalidField(name, "must have a filename that all servers read alike: without control characters, and without a quote or without a semicolon")
	}
	kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	u.write(textproto.MIMEHeader{
		"Content-Disposition": {disposition},
		"Content-Type":        {cmp.Or(kind, "application/octet-stream")},
	})
	u.file = part
	return nil
}

// fileDisposition is the Content-Disposition of a part with a file: names alone, in any notation.
var fileDisposition = regexp.MustCompile(`^(?i:form-data)((?:[ \t]*;[ \t]*(?:name|filename\*?)=(?:"(?:[^"\\[:cntrl:]]|\\[^[:cntrl:]])*"|[^ \t";,\\[:cntrl:]]+))+)[ \t;]*$`)

// dispositionOf returns the Content-Disposition of a part with a file. The names are as the client has written
// them: servers differ in whether a backslash escapes another character, so that a name in another notation is
// another name to some of them. It returns false if some server could find further parameters in a name.
func dispositionOf(part *multipart.Part) (disposition string, plain bool) {
	m := fileDisposition.FindStringSubmatch(part.Header.Get("Content-Disposition"))
	if m == nil {
		return "", false
	}
	_, escaped, _ := strings.Cut(m[1], `\"`)
	return "form-data" + m[1], !strings.Contains(escaped, ";")
}

// description is the name of the part that describes the file, which has none in the form.
const description = "description"

// beginRelated is begin for a form whose parts have no names.
func (u *Upload) beginRelated(part *multipart.Part) *fault.Fault {
	kind := part.Header.Get("Content-Type")
	switch {
	case u.given[u.form.File]:
		return fault.InvalidField(u.form.File, "must be the last part")
	case u.given[description]:
		u.given[u.form.File], u.file = true, part
		u.write(textproto.MIMEHeader{"Content-Type": {cmp.Or(kind, "application/octet-stream")}})
		return nil
	}
	u.given[description] = true
	document, err := io.ReadAll(io.LimitReader(part, longestText+1))
	switch {
	case err != nil:
		return brokenForm(err)
	case len(document) > longestText:
		return fault.InvalidField(description, fmt.Sprintf("must be a JSON document of at most %d bytes", longestText))
	}
	if refused := u.form.Describes(document); refused != nil {
		return refused
	}
	u.write(textproto.MIMEHeader{"Content-Type": {"application/json"}})
	u.unread.Write(document)
	return nil
}

// copyText writes a part that is a text.
func (u *Upload) copyText(name string, part *multipart.Part) *fault.Fault {
	text, err := io.ReadAll(io.LimitReader(part, longestText+1))
	switch {
	case err != nil:
		return brokenForm(err)
	case len(text) > longestText || !utf8.Valid(text):
		return fault.InvalidField(name, fmt.Sprintf("must be a text in UTF-8 of at most %d bytes", longestText))
	}
	if refused := u.noteText(name, string(text)); refused != nil {
		return refused
	}
	u.write(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + name + `"`}})
	u.unread.Write(text)
	return nil
}

// write writes the head of a part.
func (u *Upload) write(head textproto.MIMEHeader) {
	_, _ = u.writer.CreatePart(head) // to memory
}

// copyFile writes the next bytes of the file.
func (u *Upload) copyFile() {
	var err error
	if u.reads() {
		err = u.copyLines()
	} else {
		length := u.unread.Len()
		_, err = io.CopyN(&u.unread, u.file, chunk)
		if refused := u.show(u.unread.Bytes()[length:]); refused != nil {
			u.ended = refused
			return
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		u.file = nil
	case err != nil:
		u.ended = brokenForm(err)
	}
}

// ReadFile makes tap read the file.
func (u *Upload) ReadFile(tap Tap) { u.tap = tap }

// show shows bytes of the file to the tap.
func (u *Upload) show(p []byte) *fault.Fault {
	if u.tap == nil {
		return nil
	}
	return u.tap.Add(p)
}

// brokenForm returns the fault of a form that cannot be read on.
func brokenForm(err error) *fault.Fault {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return fault.BodyTooLarge(large.Limit)
	}
	f := fault.FormBroken("it has no end, or a part without a head")
	f.Cause = err
	return f
}

// shownName returns the name of a part as a fault shows it.
func shownName(name string) string {
	const longest = 64
	if name == "" || len(name) > longest || !utf8.ValidString(name) {
		return "request body"
	}
	return name
}
