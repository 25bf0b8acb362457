package gateway

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// readBody reads the request body to its end and decodes it. Reading to the end
// is more than a bound: the server notices that a client went away only once
// nothing of the body is left unread.
func (h *Handler) readBody(ex *exchange.Exchange, r *http.Request) *fault.Fault {
	if !isJSON(r.Header["Content-Type"]) {
		return fault.NotJSON()
	}
	name, err := coding.Name(r.Header["Content-Encoding"])
	if err != nil {
		return fault.CodingUnsupported()
	}
	ex.Lease = exchange.NewLease()
	body, err := coding.ReadAll(ex.Lease.Buffer(), r.Body, r.ContentLength, h.MaxBody)
	if err != nil {
		return h.unread(err)
	}
	ex.Lease.Keep(body)
	if name != "" {
		if body, err = coding.Decode(name, bytes.NewReader(body), h.MaxBody); err != nil {
			return h.undecoded(name, err)
		}
	}
	ex.Body = bytes.TrimPrefix(body, byteOrderMark)
	if bytes.HasPrefix(ex.Body, byteOrderMark) { // the scanner would tolerate this one as well
		return fault.Malformed(len(byteOrderMark), errTwoMarks)
	}
	return nil
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	errTwoMarks   = errors.New("two byte order marks")
)

func (h *Handler) unread(err error) *fault.Fault {
	var tooLarge *http.MaxBytesError // of Caddy's request_body directive
	switch {
	case errors.Is(err, coding.ErrTooLarge):
		return fault.BodyTooLarge(h.MaxBody)
	case errors.As(err, &tooLarge):
		return fault.BodyTooLarge(tooLarge.Limit)
	default:
		return fault.BodyUnreadable(err)
	}
}

func (h *Handler) undecoded(name string, err error) *fault.Fault {
	if errors.Is(err, coding.ErrTooLarge) {
		return fault.DecodedBodyTooLarge(h.MaxBody)
	}
	return fault.CodingBroken(name, err)
}

// isJSON reports whether a content type is JSON. An absent one is taken for it.
func isJSON(values []string) bool {
	switch {
	case len(values) > 1:
		return false
	case len(values) == 0 || values[0] == "":
		return true
	}
	return exchange.IsJSON(values[0])
}

// inspect runs the one strict pass over the body.
func inspect(ex *exchange.Exchange) *fault.Fault {
	view, fault := ex.Format.Requests.Inspect(ex.Body, ex.Operation)
	if fault != nil {
		return fault
	}
	ex.View = view
	return nil
}
