package fault

import (
	"errors"
	"fmt"
)

// statusRow says what a provider's status means to a client.
type statusRow struct {
	kind Kind
	code string // of chat and completions bodies, "" for the provider's own or none
}

// statusRows is the table of wire format E.2; rowOf knows the rest.
var statusRows = map[int]statusRow{
	400: {Invalid, ""},
	401: {BadGateway, codeAuth},
	402: {BadGateway, codeBilling},
	403: {Forbidden, "permission_denied"},
	404: {NotFound, "model_not_found"},
	405: {BadGateway, ""}, // 405, 406, 415: the provider is configured wrongly
	406: {BadGateway, ""},
	408: {Timeout, codeTimeout},
	409: {Conflict, ""},
	413: {TooLarge, "request_too_large"},
	415: {BadGateway, ""},
	429: {RateLimited, codeRateLimited},
	500: {Internal, ""},
	503: {Overloaded, codeOverloaded},
	504: {Timeout, codeTimeout},
	529: {Overloaded, codeOverloaded},
}

func rowOf(status int) statusRow {
	if row, ok := statusRows[status]; ok {
		return row
	}
	if status >= 400 && status < 500 {
		return statusRow{kind: Invalid}
	}
	return statusRow{kind: BadGateway}
}

// Read says what a provider's answer with an error status means to the
// client. Its message is the provider's own where that is fit to be read: not
// from a page of HTML, and cut at 2048 bytes. What concerns the gateway's own
// account with the provider becomes the provider's fault: a client told 401
// would think that its own key is bad.
func Read(status int, contentType string, body []byte) *Fault {
	d := readDetail(contentType, body)
	if account := d.account(); account != 0 {
		status = account
	}
	return d.fault(status, fmt.Sprintf("the upstream answered with status %d and no usable error body", status))
}

// maxStatus is the last status of HTTP: what a client makes of another one,
// nobody knows.
const maxStatus = 599

// fault is the fault for a status with this detail; generic is its message when
// the provider gave none that may be shown.
func (d detail) fault(status int, generic string) *Fault {
	row := rowOf(status)
	if d.overflows(row) {
		row = statusRow{Invalid, CodeOverflow}
	}
	f := &Fault{Kind: row.kind, Message: d.message, Code: row.code, Details: d.details, Cause: d.cause(status), Quoted: true}
	if f.Reason = d.reason(row); f.Reason != "" {
		f.Path = d.path()
	}
	if f.Code == "" && f.Kind == Invalid {
		f.Code = d.code
	}
	switch {
	case row.code == codeAuth:
		f.say("the upstream did not accept the gateway's credential")
		f.Final = true
	case row.code == codeBilling:
		f.say("the gateway's account with the upstream is exhausted")
	case f.Message == "" || status < 400:
		f.say(generic)
	}
	return f
}

// say puts a sentence of the gateway's own in place of what the provider wrote.
func (f *Fault) say(message string) { f.Message, f.Quoted, f.Details = message, false, nil }

// Redact removes a message, its details and the cause that repeat one of the
// secrets: texts such as the provider's credential and address, which neither
// the client nor the log may read.
func (f *Fault) Redact(secrets ...string) {
	for _, secret := range secrets {
		if Reveals(f.Message, secret) || endsWithin(f.Message, secret) {
			f.say(embeddedMessage)
		}
		if Reveals(f.Code, secret) {
			f.Code = ""
		}
		if Reveals(string(f.Details), secret) {
			f.Details = nil
		}
		if f.Cause == nil {
			continue
		}
		if cause := f.Cause.Error(); Reveals(cause, secret) || endsWithin(cause, secret) {
			f.Cause = errRedacted
		}
	}
}

var errRedacted = errors.New("left out: it repeats a credential or an address")
