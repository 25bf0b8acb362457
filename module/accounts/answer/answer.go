// Package answer writes the answers of the API of accounts.
//
// It promises that an error becomes a problem with a correct status, whose message contains
// of the request only names of fields, and that errors which the client did not cause are
// logged. It refuses to let an answer be cached, except for documents that choose it.
package answer

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/problem"
)

// envelope is the JSON of answers in the format of existing clients.
type envelope struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

// Written is data that writes itself as the answer, without an envelope.
type Written interface {
	// Write writes the whole answer. It returns when nothing is left to write, or when the
	// client has left.
	Write(http.ResponseWriter)
}

// WriteEnvelope writes data in an envelope, or data that writes itself.
func WriteEnvelope(w http.ResponseWriter, data any) { writeAnswer(w, data, envelope{true, "", data}) }

// WriteJSON writes data as JSON, or data that writes itself. Without data, the status is 204.
func WriteJSON(w http.ResponseWriter, data any) {
	if data == nil {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	writeAnswer(w, data, data)
}

func writeAnswer(w http.ResponseWriter, data, form any) {
	if doc, ok := data.(Written); ok {
		doc.Write(w)
		return
	}
	WriteStatus(w, http.StatusOK, form)
}

// WriteEnvelopeProblem writes a problem in an envelope.
func WriteEnvelopeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	SetHeaders(w, p)
	WriteStatus(w, p.Status, envelope{false, messageFor(r, p), nil})
}

// WriteProblem writes a problem as a problem document of RFC 9457.
func WriteProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	SetHeaders(w, p)
	problem.Write(w, p.Status, messageFor(r, p))
}

// messageFor returns the message of a problem. A path of the API in it begins with what the site
// has cut off the path of the request.
func messageFor(r *http.Request, p *Problem) string {
	return strings.ReplaceAll(p.Message, " /api/", " "+aigateway.PathPrefix(r)+"/api/")
}

// SetHeaders sets Retry-After in seconds, rounded up, and the challenge of a request without a
// session.
func SetHeaders(w http.ResponseWriter, p *Problem) {
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", aigateway.Challenge)
	}
	if p.Retry > 0 {
		seconds := (p.Retry + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
}

// WriteStatus writes a value as JSON, with a status, as an answer that must not be cached.
func WriteStatus(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil { // the types of this API can be marshaled
		panic(err)
	}
	WriteHeader(w, "application/json", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left
}

// Document is a text that is written as it is.
type Document struct {
	ContentType string
	Caching     string // the header Cache-Control
	Body        []byte
}

// Write implements Written.
func (d Document) Write(w http.ResponseWriter) {
	WriteHeader(w, d.ContentType, d.Caching)
	_, _ = w.Write(d.Body) // the client may have left
}

// WriteHeader sets the headers of an answer with a content type; caching is Cache-Control.
func WriteHeader(w http.ResponseWriter, contentType, caching string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", caching)
}

// Redirect is an answer that sends a browser to an address, with GET.
type Redirect string

// Write implements Written.
func (target Redirect) Write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Location", string(target))
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the address of a callback contains a code
	w.WriteHeader(http.StatusSeeOther)
}

// Views returns the views of the items of a list.
func Views[T, V any](items []T, view func(*T) V) []V {
	all := make([]V, len(items))
	for i := range items {
		all[i] = view(&items[i])
	}
	return all
}
