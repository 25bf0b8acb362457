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

// detail is what a provider's error body says.
type detail struct {
	message string // fit to be shown, "" for none
	kind    string // the type, in the provider's words
	code    string
	param   string // path of the field at fault, in the provider's words
	details []byte // error.details of a messages body, nil for none
}

// readDetail reads an error body of any provider. Their shapes are many, and
// errors are rare, so it decodes generically. JSON is read whatever its content
// type.
func readDetail(contentType string, body []byte) detail {
	value, ok := decode(body)
	if !ok {
		return detail{message: plainMessage(contentType, body)}
	}
	d := detailOf(value, 0)
	d.message, d.details = presented(d.message), messagesDetails(value)
	if len(d.code) > maxCode || d.code != presented(d.code) {
		d.code = ""
	}
	return d
}

// plainMessage returns the message of a body that is not JSON: short text, but
// no markup. Byte order marks may stand before it.
func plainMessage(contentType string, body []byte) string {
	if len(body) > maxPlain || strings.Contains(strings.ToLower(contentType), "html") {
		return ""
	}
	message := strings.TrimLeft(presented(string(body)), "\ufeff\ufffd \t")
	if strings.HasPrefix(message, "<") {
		return ""
	}
	return message
}

// IsJSON reports whether an error body is JSON as a whole. A byte order mark may
// stand before it.
func IsJSON(body []byte) bool {
	_, ok := decode(body)
	return ok
}

// decode decodes a body that is JSON as a whole.
func decode(body []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	_, err := decoder.Token()
	return value, errors.Is(err, io.EOF)
}

// presented makes a provider's message fit to be shown.
func presented(message string) string {
	message = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(message, "\ufffd"))
	message = strings.TrimSpace(message)
	if len(message) <= maxDetail {
		return message
	}
	// Cutting may split a character; what is left of it goes.
	return strings.ToValidUTF8(message[:maxDetail], "")
}

// exhaustedWords are types and codes that say that an account has no credit.
var exhaustedWords = map[string]bool{
	"insufficient_quota": true, "billing_error": true, "billing_not_active": true, "billing_hard_limit_reached": true,
	"insufficient_user_quota": true, "usage_not_included": true, "insufficient_balance": true,
}

// creditTooLow is how Anthropic says so, with a status and a type that blame the
// request.
const creditTooLow = "Your credit balance is too low"

// exhausted reports whether the provider says that the account has no credit.
func (d detail) exhausted() bool {
	return exhaustedWords[d.code] || exhaustedWords[d.kind] || strings.HasPrefix(d.message, creditTooLow)
}

// unauthenticated reports whether the provider says that it did not accept the
// credential, whatever the status.
func (d detail) unauthenticated() bool {
	return d.code == "invalid_api_key" || d.kind == "authentication_error"
}

// account is the status that stands for trouble with the gateway's own account,
// which some providers tell with another one; 0 without such trouble.
func (d detail) account() int {
	switch {
	case d.exhausted():
		return 402
	case d.unauthenticated():
		return 401
	}
	return 0
}

// status is the error status that the code is, 0 when it is none.
func (d detail) status() int {
	status, err := strconv.Atoi(d.code)
	if err != nil || status < 400 || status > maxStatus {
		return 0
	}
	return status
}

// cause is what the log is told: never the message, which may quote the
// request, nor anything else that could be a sentence or a key.
func (d detail) cause(status int) error {
	return fmt.Errorf("upstream error: status %d, type %q, code %q, message of %d bytes",
		status, word(d.kind), word(d.code), len(d.message))
}

// word returns a type or a code that is known, or looks like a name, else "".
func word(text string) string {
	if words[text] != 0 || exhaustedWords[text] || overflowWords[text] || translate.MemberLike(text) {
		return text
	}
	return ""
}
