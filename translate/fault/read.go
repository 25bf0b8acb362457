package fault

import "fmt"

// statusRow is the meaning of a status of a provider to a client.
type statusRow struct {
	kind Kind
	code string // of chat and completions bodies, "" for that of the provider or none
}

// statusRows is the table of wire format E.2. rowOf has the other statuses.
var statusRows = map[int]statusRow{
	400: {Invalid, ""},
	401: {CredentialRefused, codeAuth},
	402: {AccountExhausted, codeExhausted},
	403: {Forbidden, "permission_denied"},
	404: {NotFound, "model_not_found"},
	405: {BadGateway, ""}, // 405, 406, 415: the configuration of the provider is wrong
	406: {BadGateway, ""},
	408: {Timeout, codeTimeout},
	409: {Conflict, ""},
	413: {TooLarge, "request_too_large"},
	415: {BadGateway, ""},
	429: {RateLimited, codeRateLimited},
	498: {Overloaded, codeOverloaded}, // of Groq
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

// Read returns the fault of a provider's answer with an error status. Its message is
// that of the provider, cut at 2048 bytes, unless that is markup. Trouble with the
// gateway's account at the provider becomes a fault of the provider: a client that
// reads 401 discards its own key.
func Read(status int, contentType string, body []byte) *Fault {
	d := readDetail(contentType, body)
	if account := d.account(); account != 0 {
		status = account
	}
	return d.fault(status, fmt.Sprintf("the upstream answered with status %d and no usable error body", status))
}

// maxStatus is the largest status of HTTP.
const maxStatus = 599

// fault returns the fault of a status with this detail. generic is its message if that
// of the provider cannot be shown.
func (d detail) fault(status int, generic string) *Fault {
	row := rowOf(status)
	excess := d.excess(row)
	switch {
	case excess != nil:
		row = statusRow{Invalid, codeExcess}
	case d.overflows(row):
		row = statusRow{Invalid, CodeOverflow}
	}
	f := &Fault{Kind: row.kind, Message: d.message, Code: row.code, Details: d.details, Cause: d.cause(status), Quoted: true}
	f.Blame = Blame{Reason: d.reason(row), Content: d.violatesPolicy(row), Excess: excess}
	if row.code == CodeOverflow {
		f.Blame.sum = d.sum()
	}
	if f.BlamesRequest() {
		f.Blame.places = d.places()
	}
	if f.Code == "" && f.Kind == Invalid {
		f.Code = d.code
	}
	if f.Kind == RateLimited || f.Kind == Overloaded {
		f.RetryAfter = d.retryAfter()
	}
	switch {
	case f.Kind == CredentialRefused:
		f.setMessage("the upstream did not accept the gateway's credential")
		f.Final = true
	case f.Kind == AccountExhausted:
		f.Blame.Costly = d.leavesCredit()
		f.setMessage("the gateway's account with the upstream is exhausted")
		f.Final = true
	case f.Message == "" || status < 400:
		f.setMessage(generic)
	}
	return f
}

// setMessage replaces the wording of the provider.
func (f *Fault) setMessage(message string) { f.Message, f.Quoted, f.Details = message, false, nil }
