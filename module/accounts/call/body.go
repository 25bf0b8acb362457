package call

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
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

// readBody reads the body of a request, which must be plain JSON.
func (c *Call) readBody() ([]byte, error) {
	_ = c.deadline(time.Now().Add(bodyTimeout)) // fails for requests of this process, which need no deadline
	if coding := c.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, answer.Refuse(http.StatusUnsupportedMediaType, "the request body must not be compressed: send no Content-Encoding")
	}
	if !isPlainJSON(c.Header) {
		return nil, answer.Refuse(http.StatusUnsupportedMediaType, "the request body must be plain JSON: Content-Type: application/json")
	}
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, maxBody+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, answer.Invalid("the request body took longer than %d seconds", int(bodyTimeout.Seconds()))
	case err != nil:
		return nil, answer.Invalid("the request body is incomplete")
	case len(body) > maxBody:
		return nil, answer.Refuse(http.StatusRequestEntityTooLarge, "the request body must be at most %d bytes", maxBody)
	}
	_ = c.deadline(time.Time{}) // not after a refusal: the server still reads the rest of the body
	return body, nil
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

// decode decodes a body, which must be one JSON object in valid UTF-8, into the fields of a struct.
// Names of members that differ only in letter case count as the same name, which must be unique.
// Members that are null count as absent. Members that the struct does not have are ignored, unless
// strict is true. Package json alone would accept the last of several members of one name.
func decode[In any](body []byte, target *In, strict bool) error {
	var names []string
	fields := make(map[string]reflect.Value)
	fillable := reflect.ValueOf(target).Elem()
	for _, field := range reflect.VisibleFields(fillable.Type()) {
		if name := field.Tag.Get("json"); name != "" {
			names = append(names, name)
			fields[name] = fillable.FieldByIndex(field.Index)
		}
	}
	c := jsonscan.New(body)
	if !c.EnterObject() && c.Err() == nil {
		return answer.Invalid("the request body must be a JSON object")
	}
	var problem error // of the first member that has one
	for c.Member() {
		name := string(c.Name())
		raw := c.Skip()
		field, known := fields[name]
		if problem != nil || string(raw) == "null" {
			continue
		}
		if known {
			problem = decodeValue(name, raw, field)
		} else if strict {
			problem = unknown("member", name, names)
		}
	}
	if err := bodyProblem(c.Finish()); err != nil {
		return err
	}
	return problem
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

// decodeValue decodes a value into a field, or a pointer to one.
func decodeValue(name string, raw []byte, field reflect.Value) (err error) {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	c := jsonscan.Again(raw)
	switch target := field.Addr().Interface().(type) {
	case *string:
		*target, err = text(&c, name, "a string")
	case *[]string:
		*target, err = texts(&c, name)
	case *int64:
		n, exact, ok := c.Int()
		if !ok || !exact {
			err = answer.Invalid("%s must be a whole number", name)
		}
		*target = n
	case *bool:
		is, ok := c.Bool()
		if !ok {
			err = answer.Invalid("%s must be true or false", name)
		}
		*target = is
	default:
		panic(fmt.Sprintf("a member of a body cannot be a %T", target))
	}
	return err
}

// text reads a string. must is what the member has to be, for messages. It refuses U+FFFD. Decoders return this character
// for half of a surrogate pair, and many programs write it for invalid characters, so that different
// passwords would become equal.
func text(c *jsonscan.Cursor, name, must string) (string, error) {
	raw, ok := c.Text()
	if !ok {
		return "", answer.Invalid("%s must be %s", name, must)
	}
	if bytes.ContainsRune(raw, utf8.RuneError) {
		return "", answer.Invalid("%s must be %s without U+FFFD or half of a surrogate pair", name, must)
	}
	return string(raw), nil
}

// texts reads an array of strings.
func texts(c *jsonscan.Cursor, name string) ([]string, error) {
	const must = "an array of strings"
	list := []string{}
	if !c.EnterArray() {
		return nil, answer.Invalid("%s must be %s", name, must)
	}
	for c.Element() {
		element, err := text(c, name, must)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}

// Require returns an error if strings are empty. Their names and values alternate.
func Require(fields ...string) error {
	var missing []string
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i+1] == "" {
			missing = append(missing, fields[i])
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return answer.Invalid("%s is required", missing[0])
	}
	return answer.Invalid("%s are required", strings.Join(missing, " and "))
}

// ValueOr returns the value of a pointer, or a default if the pointer is nil.
func ValueOr[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}
