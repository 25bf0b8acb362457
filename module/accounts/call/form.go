package call

import (
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxBody is the largest size of a request body in bytes.
const maxBody = 16 << 10

// bodyTimeout is how long the client may take to send a request body.
const bodyTimeout = 10 * time.Second

// Form is the JSON object of a request body. Its methods read members by name. Members
// that are null count as absent, and unknown members are ignored. After a member of a
// wrong type, Err returns an error about the first one.
type Form struct {
	members map[string][]byte
	problem error
}

// ReadForm reads the body of a request, which must be one JSON object in valid UTF-8.
// Names of members that differ only in letter case count as the same name, which must
// be unique.
func (c *Call) ReadForm() (*Form, error) {
	_ = c.deadline(time.Now().Add(bodyTimeout)) // fails for requests of this process, which need no deadline
	if coding := c.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, answer.Refuse(http.StatusUnsupportedMediaType, "the request body must not be compressed: send no Content-Encoding")
	}
	if !isPlainJSON(c.Header) {
		return nil, answer.Refuse(http.StatusUnsupportedMediaType, "the request body must be plain JSON: Content-Type: application/json")
	}
	body, err := io.ReadAll(io.LimitReader(c.Body, maxBody+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, answer.Invalid("the request body took longer than %d seconds", int(bodyTimeout.Seconds()))
	case err != nil:
		return nil, answer.Invalid("the request body is incomplete")
	case len(body) > maxBody:
		return nil, answer.Refuse(http.StatusRequestEntityTooLarge, "the request body must be at most %d bytes", maxBody)
	}
	_ = c.deadline(time.Time{}) // not after a refusal: the server still reads the rest of the body
	return parseForm(body)
}

// isPlainJSON reports whether a header describes JSON. An absent content type counts as
// JSON, as in requests to models.
func isPlainJSON(h http.Header) bool {
	contentType := h.Get("Content-Type")
	if contentType == "" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func parseForm(body []byte) (*Form, error) {
	f := &Form{members: make(map[string][]byte)}
	c := jsonscan.New(body)
	if !c.EnterObject() && c.Err() == nil {
		return nil, answer.Invalid("the request body must be a JSON object")
	}
	for c.Member() {
		name := string(c.Name())
		if raw := c.Skip(); string(raw) != "null" {
			f.members[name] = raw
		}
	}
	return f, bodyProblem(c.Finish())
}

func bodyProblem(err error) error {
	var twice *jsonscan.DuplicateError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &twice):
		return answer.Invalid("the request body contains a member twice, the second time at byte %d", twice.Offset)
	}
	return answer.Invalid("the request body is %s", err) // the error does not repeat the body
}

// Err returns the problem of the first member of a wrong type, nil if there is none.
func (f *Form) Err() error { return f.problem }

func (f *Form) refuse(name, must string) {
	if f.problem == nil {
		f.problem = answer.Invalid("%s must be %s", name, must)
	}
}

// read returns a cursor at the value of a member, nil if the member is absent.
func (f *Form) read(name string) *jsonscan.Cursor {
	raw, ok := f.members[name]
	if !ok {
		return nil
	}
	c := jsonscan.Again(raw)
	return &c
}

// Text returns a string, nil if it is absent. It refuses strings with U+FFFD. Decoders
// return this character for half of a surrogate pair, and many programs write it for
// invalid characters, so that different passwords would become equal.
func (f *Form) Text(name string) *string {
	c := f.read(name)
	if c == nil {
		return nil
	}
	raw, ok := c.Text()
	if !ok {
		f.refuse(name, "a string")
		return nil
	}
	text := string(raw)
	if strings.ContainsRune(text, utf8.RuneError) {
		f.refuse(name, "a string without U+FFFD or half of a surrogate pair")
		return nil
	}
	return &text
}

// Number returns a whole number, nil if it is absent.
func (f *Form) Number(name string) *int64 {
	c := f.read(name)
	if c == nil {
		return nil
	}
	n, exact, ok := c.Int()
	if !ok || !exact {
		f.refuse(name, "a whole number")
		return nil
	}
	return &n
}

// Flag returns a boolean, nil if it is absent.
func (f *Form) Flag(name string) *bool {
	c := f.read(name)
	if c == nil {
		return nil
	}
	v, ok := c.Bool()
	if !ok {
		f.refuse(name, "true or false")
		return nil
	}
	return &v
}

// Texts returns an array of strings, nil if it is absent.
func (f *Form) Texts(name string) []string {
	c := f.read(name)
	if c == nil {
		return nil
	}
	list := []string{}
	if !c.EnterArray() {
		f.refuse(name, "an array of strings")
		return nil
	}
	for c.Element() {
		text, ok := c.Text()
		if !ok {
			f.refuse(name, "an array of strings")
			return nil
		}
		list = append(list, string(text))
	}
	return list
}

// Require returns an error if one of the strings is absent or empty.
func (f *Form) Require(names ...string) error {
	var missing []string
	for _, name := range names {
		if text := f.Text(name); f.problem == nil && (text == nil || *text == "") {
			missing = append(missing, name)
		}
	}
	switch {
	case f.problem != nil:
		return f.problem
	case len(missing) == 1:
		return answer.Invalid("%s is required", missing[0])
	case len(missing) > 1:
		return answer.Invalid("%s are required", strings.Join(missing, " and "))
	}
	return nil
}

// ValueOr returns the value of a pointer, or a default if the pointer is nil.
func ValueOr[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// Keep removes all members except the named ones.
func (f *Form) Keep(names ...string) {
	maps.DeleteFunc(f.members, func(name string, _ []byte) bool { return !slices.Contains(names, name) })
}
