package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// maxDetail bounds the messages of providers that are relayed, in bytes.
const maxDetail = 2048

// maxPlain bounds the error bodies that are not JSON and relayed, in bytes.
const maxPlain = 512

// maxCode bounds the codes of providers that are relayed, in bytes.
const maxCode = 64

// detail is the content of a provider's error body.
type detail struct {
	message string // printable, "" for none
	kind    string // the type, in the provider's words
	code    string
	param   string // path of the field at fault, in the provider's words
	details []byte // error.details of a messages body, nil for none
	rpc     rpcDetails
	wait    float64 // seconds until a retry, of a member for that; 0 for none
}

// readDetail reads an error body of any provider. Bodies have many shapes and errors
// are rare, so it decodes into maps. JSON is read whatever its content type.
func readDetail(contentType string, body []byte) detail {
	value, ok := decode(body)
	if !ok {
		return detail{message: plainMessage(contentType, body)}
	}
	d := detailOf(value, 0)
	d.rpc, d.wait = rpcDetailsOf(value), memberWait(value, 0)
	d.message, d.details = printable(masked(d.message)), Mask(messagesDetails(value), "")
	if len(d.code) > maxCode || d.code != printable(d.code) {
		d.code = ""
	}
	return d
}

// masked masks a whole message: once it is cut, it may end with a part of an id.
func masked(message string) string { return string(Mask([]byte(message), "")) }

// plainMessage returns the message of a body that is not JSON, if it is short and no
// markup. It may begin with byte order marks.
func plainMessage(contentType string, body []byte) string {
	if len(body) > maxPlain || strings.Contains(strings.ToLower(contentType), "html") {
		return ""
	}
	message := strings.TrimLeft(printable(masked(string(body))), "\ufeff\ufffd \t")
	if strings.HasPrefix(message, "<") {
		return ""
	}
	return message
}

// IsJSON reports whether an error body is one JSON value, maybe after a byte order
// mark.
func IsJSON(body []byte) bool {
	_, ok := decode(body)
	return ok
}

// decode decodes a body that is one JSON value.
func decode(body []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	_, err := decoder.Token()
	return value, errors.Is(err, io.EOF)
}

// printable returns a provider's message without control characters, cut at maxDetail. Line
// ends and tabs become one space, so that no words are joined.
func printable(message string) string {
	spaced := true // the last character is a space, or there is none
	message = strings.Map(func(r rune) rune {
		gap := unicode.IsControl(r) && unicode.IsSpace(r) || r == '\u2028' || r == '\u2029'
		switch {
		case gap && !spaced:
			r = ' '
		case gap, unicode.IsControl(r):
			return -1
		}
		spaced = r == ' '
		return r
	}, strings.ToValidUTF8(message, "\ufffd"))
	message = strings.TrimSpace(message)
	if len(message) <= maxDetail {
		return message
	}
	// Cutting may split a character, the rest of which is removed.
	return strings.ToValidUTF8(message[:maxDetail], "")
}

// status returns the code as an error status, 0 if it is none.
func (d detail) status() int {
	status, err := strconv.Atoi(d.code)
	if err != nil || status < 400 || status > maxStatus {
		return 0
	}
	return status
}

// cause returns the error for the log. It repeats neither the message, which may quote
// the request, nor anything else that could be a sentence or a key.
func (d detail) cause(status int) error {
	return fmt.Errorf("upstream error: status %d, type %q, code %q, message of %d bytes",
		status, word(d.kind), word(d.code), len(d.message))
}

// word returns a type or a code if it is known or looks like a name, else "".
func word(text string) string {
	if statusByWord[text] != 0 || exhaustedWords[text] || overflowWords[text] || translate.MemberLike(text) {
		return text
	}
	return ""
}
