package request

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Peek reads the body of a request that is passed on as it is, and checks it as Read does, for a
// view of it. The body of the request then has the same bytes as before, also if there is a fault: for
// a body of more than limit bytes, before or after decoding, and for one that is not valid in its format.
func Peek(ex *exchange.Exchange, r *http.Request, limit int64) *fault.Fault {
	if f := checkType(ex.Operation, r.Header["Content-Type"]); f != nil {
		return f
	}
	name, err := coding.Name(r.Header["Content-Encoding"])
	switch {
	case err != nil:
		return fault.CodingUnsupported()
	case r.ContentLength > limit:
		return fault.BodyTooLarge(limit)
	}
	rest := r.Body
	// The memory has no lease: an answer may begin before all of the body was sent.
	body, err := io.ReadAll(io.LimitReader(rest, limit+1))
	r.Body = peeked{io.MultiReader(bytes.NewReader(body), rest), rest}
	switch {
	case err != nil:
		return unread(err, limit)
	case int64(len(body)) > limit:
		return fault.BodyTooLarge(limit)
	}
	if f := setBody(ex, name, body, limit); f != nil {
		return f
	}
	ex.Received = time.Since(ex.Start)
	return inspect(ex, r)
}

// Whole returns the decoded body of a request, of at most limit bytes before and after decoding, which
// must be JSON or a form.
func Whole(r *http.Request, limit int64) (body []byte, f *fault.Fault) {
	var read exchange.Exchange
	switch name, err := coding.Name(r.Header["Content-Encoding"]); {
	case err != nil:
		return nil, fault.CodingUnsupported()
	case !HasForm(r.Header) && !isJSON(r.Header["Content-Type"]):
		return nil, fault.NotJSON()
	default:
		if body, err = coding.ReadAll(nil, r.Body, r.ContentLength, limit); err != nil {
			return nil, unread(err, limit)
		}
		f = setBody(&read, name, body, limit)
	}
	return read.Body, f
}

// HasForm reports whether the body is to be a form.
func HasForm(h http.Header) bool { return hasFormType(h["Content-Type"]) }

// peeked is a body of which some bytes were read.
type peeked struct {
	io.Reader
	io.Closer
}
