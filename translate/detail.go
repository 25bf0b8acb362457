package translate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
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
}

// readDetail reads an error body of any provider. Their shapes are many, and
// errors are rare, so it decodes generically.
func readDetail(body []byte) detail {
	value, ok := decode(body)
	if !ok {
		if len(body) > maxPlain {
			return detail{}
		}
		return detail{message: presented(string(body))}
	}
	d := detailOf(value)
	d.message = presented(d.message)
	if len(d.code) > maxCode || d.code != presented(d.code) {
		d.code = ""
	}
	return d
}

// decode decodes a body that is JSON as a whole.
func decode(body []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	_, err := decoder.Token()
	return value, errors.Is(err, io.EOF)
}

// detailOf looks for the message in the places in which providers put it, in
// this order: error.message, error, message, detail, errors; in the first
// element of an array, the same.
func detailOf(value any) detail {
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	outer, ok := value.(map[string]any)
	if !ok {
		return detail{}
	}
	inner, _ := outer["error"].(map[string]any)
	d := detail{
		message: firstText(inner["message"], outer["error"], outer["message"], outer["detail"]),
		kind:    firstText(inner["type"], outer["type"]),
		code:    firstText(inner["code"], outer["code"]),
	}
	if d.message == "" {
		d.message = joined(outer["detail"])
	}
	if d.message == "" {
		d.message = firstMessage(outer["errors"])
	}
	if d.kind == "error" {
		d.kind = ""
	}
	return d
}

// firstText is the first of the values that is a text or a number.
func firstText(values ...any) string {
	for _, value := range values {
		switch v := value.(type) {
		case string:
			if v != "" {
				return v
			}
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// joined writes a list of validation errors: "body.messages.0: field required".
func joined(value any) string {
	list, _ := value.([]any)
	var parts []string
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		message := firstText(fields["msg"])
		if at := location(fields["loc"]); at != "" {
			message = at + ": " + message
		}
		if message != "" {
			parts = append(parts, message)
		}
	}
	return strings.Join(parts, "; ")
}

func location(value any) string {
	list, _ := value.([]any)
	var steps []string
	for _, step := range list {
		steps = append(steps, firstText(step))
	}
	return strings.Join(steps, ".")
}

// firstMessage is the message of the first of a list of errors.
func firstMessage(value any) string {
	list, _ := value.([]any)
	if len(list) == 0 {
		return ""
	}
	fields, _ := list[0].(map[string]any)
	return firstText(list[0], fields["message"])
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

// exhausted reports whether the provider says that the account has no credit.
func (d detail) exhausted() bool {
	return d.code == "insufficient_quota" || d.kind == "insufficient_quota" || d.kind == "billing_error"
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
// request, nor anything else that could be a sentence.
func (d detail) cause(status int) error {
	return fmt.Errorf("upstream error: status %d, type %q, code %q, message of %d bytes",
		status, word(d.kind), word(d.code), len(d.message))
}

// word returns a text that is one word of a bounded length, else "".
func word(text string) string {
	if len(text) > maxCode || !PlainName(text) {
		return ""
	}
	return text
}
