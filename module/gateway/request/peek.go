package request

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Peek reads the body of a request that is passed on as it is, and checks it as Read does, for a
// view of it. The body of the request then has the same bytes as before, also if there is a fault: for
// a body of more than limit bytes, before or after decoding, and for one that is not valid in its format.
func Peek(ex *exchange.Exchange, r *http.Request, limit int64) *fault.Fault {
	if f := checkType(ex.Request.Operation, r.Header["Content-Type"]); f != nil {
		return f
	}
	name, err := coding.Name(r.Header["Content-Encoding"])
	switch {
	case err != nil:
		return fault.CodingUnsupported()
	case r.ContentLength > limit:
		return fault.BodyTooLarge(limit)
	}
	// The memory has no lease: an answer may begin before all of the body was sent.
	body, err := peek(r, limit+1)
	switch {
	case err != nil:
		return unread(err, limit)
	case int64(len(body)) > limit:
		return fault.BodyTooLarge(limit)
	}
	if f := setBody(ex, name, body, limit); f != nil {
		return f
	}
	ex.Request.Received = time.Since(ex.Start)
	return inspect(ex, r)
}

// The bounds of ReadAhead, in bytes.
const (
	longestAhead = 1 << 20  // of a body
	mostAhead    = 64 << 20 // of all bodies in the process at a time
)

// ahead bounds the memory of bodies that are read ahead.
var ahead = semaphore.NewWeighted(mostAhead)

// ReadAhead reads the body of a request that is about to wait. A server of HTTP/1 notices that a client leaves,
// and ends the context of its request, only behind the end of the body. The body of the request then has the same
// bytes as before. ReadAhead reads nothing of a body of more than 1 MiB, or of one of unknown length behind that,
// and nothing while 64 MiB of other bodies are read ahead. release must be called when the wait has ended.
func ReadAhead(r *http.Request) (release func(), f *fault.Fault) {
	size := r.ContentLength
	if size < 0 {
		size = longestAhead
	}
	if r.ProtoMajor > 1 || size == 0 || size > longestAhead || !ahead.TryAcquire(size) {
		return func() {}, nil
	}
	if _, err := peek(r, size+1); err != nil {
		ahead.Release(size)
		return nil, unread(err, size)
	}
	return func() { ahead.Release(size) }, nil
}

// peek reads up to n bytes of the body of a request, which it has as before.
func peek(r *http.Request, n int64) ([]byte, error) {
	rest := r.Body
	begin, err := io.ReadAll(io.LimitReader(rest, n))
	r.Body = peeked{io.MultiReader(bytes.NewReader(begin), rest), rest}
	return begin, err
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
	return read.Request.Body, f
}

// HasForm reports whether the body is to be a form.
func HasForm(h http.Header) bool { return hasFormType(h["Content-Type"]) }

// peeked is a body of which some bytes were read.
type peeked struct {
	io.Reader
	io.Closer
}
