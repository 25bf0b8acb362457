package accounts

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

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxBody bounds a request body in bytes.
const maxBody = 16 << 10

// bodyTime bounds how long a request body may take.
const bodyTime = 10 * time.Second

// form is the JSON object of a request body. Members that nobody asks for are
// ignored, and so are those that are null. A member of the wrong kind is
// remembered: the first one asked for is what err tells of.
type form struct {
	members map[string][]byte
	wrong   error
}

// readForm reads the body of a request strictly: one object in valid UTF-8,
// and no member twice, whatever the letter case.
func (c *call) readForm() (*form, error) {
	_ = c.deadline(time.Now().Add(bodyTime)) // in vain for what is no connection
	if !isPlainJSON(c.Header) {
		return nil, refuse(http.StatusUnsupportedMediaType, "the request body must be plain JSON: Content-Type: application/json")
	}
	body, err := io.ReadAll(io.LimitReader(c.Body, maxBody+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, invalid("the request body took longer than %d seconds", int(bodyTime.Seconds()))
	case err != nil:
		return nil, invalid("the request body broke off")
	case len(body) > maxBody:
		return nil, refuse(http.StatusRequestEntityTooLarge, "the request body must be at most %d bytes", maxBody)
	}
	_ = c.deadline(time.Time{}) // only now: the server reads what is left of others
	return parseForm(body)
}

// isPlainJSON reports whether a body is said to be JSON as it is. A content type
// that is absent is taken for it, as it is for requests to models.
func isPlainJSON(h http.Header) bool {
	if h.Get("Content-Encoding") != "" {
		return false
	}
	contentType := h.Get("Content-Type")
	if contentType == "" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func parseForm(body []byte) (*form, error) {
	f := &form{members: make(map[string][]byte)}
	c := jsonscan.New(body)
	if !c.EnterObject() && c.Err() == nil {
		return nil, invalid("the request body must be a JSON object")
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
		return invalid("the request body has a member twice, the second one at byte %d", twice.Offset)
	}
	return invalid("the request body is %s", err) // which does not repeat the body
}

func (f *form) err() error { return f.wrong }

func (f *form) refuse(name, must string) {
	if f.wrong == nil {
		f.wrong = invalid("%s must be %s", name, must)
	}
}

// read returns the cursor at a member, nil if there is none.
func (f *form) read(name string) *jsonscan.Cursor {
	raw, ok := f.members[name]
	if !ok {
		return nil
	}
	c := jsonscan.Again(raw)
	return &c
}

// text returns a string, nil if there is none. One with U+FFFD is refused: half
// of a surrogate pair is read as that, and many programs put it where they could
// not read something else, so that texts which differ would be the same password.
func (f *form) text(name string) *string {
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

// number returns a whole number, nil if there is none.
func (f *form) number(name string) *int64 {
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

// flag returns a boolean, nil if there is none.
func (f *form) flag(name string) *bool {
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

// texts returns an array of strings, nil if there is none.
func (f *form) texts(name string) []string {
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

// require refuses a form that lacks one of the strings, or has it empty.
func (f *form) require(names ...string) error {
	var missing []string
	for _, name := range names {
		if text := f.text(name); f.wrong == nil && (text == nil || *text == "") {
			missing = append(missing, name)
		}
	}
	switch {
	case f.wrong != nil:
		return f.wrong
	case len(missing) == 1:
		return invalid("%s is required", missing[0])
	case len(missing) > 1:
		return invalid("%s are required", strings.Join(missing, " and "))
	}
	return nil
}

// or returns what a pointer points at, or else a default.
func or[T any](value *T, standard T) T {
	if value == nil {
		return standard
	}
	return *value
}

// keep forgets all members but these.
func (f *form) keep(names ...string) {
	maps.DeleteFunc(f.members, func(name string, _ []byte) bool { return !slices.Contains(names, name) })
}
