package accounts

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// envelope is the JSON of every answer below /api/.
type envelope struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

// written is data that writes itself as the answer, without an envelope.
type written interface{ write(http.ResponseWriter) }

// writeAnswer writes data that is written as it is, or else form, which contains the data.
func writeAnswer(w http.ResponseWriter, data, form any) {
	if doc, ok := data.(written); ok {
		doc.write(w)
		return
	}
	writeJSON(w, http.StatusOK, form)
}

func writeProblem(w http.ResponseWriter, p *problem) {
	setRetryAfter(w, p)
	if p.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", aigateway.Challenge)
	}
	writeJSON(w, p.status, envelope{false, p.message, nil})
}

// writeAdminProblem writes a problem as Caddy's admin API writes errors.
func writeAdminProblem(w http.ResponseWriter, p *problem) {
	setRetryAfter(w, p)
	writeJSON(w, p.status, map[string]string{"error": p.message})
}

// setRetryAfter sets the header Retry-After in seconds, rounded up.
func setRetryAfter(w http.ResponseWriter, p *problem) {
	if p.retry > 0 {
		seconds := (p.retry + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
}

// writeJSON writes an answer that must not be cached.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil { // the types of this package can be marshaled
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left
}

// openAPIDocument describes the whole HTTP API, that of models included.
//
//go:embed openapi.json
var openAPIDocument []byte

// document is a text that is written as it is.
type document struct {
	contentType string
	caching     string // the header Cache-Control
	body        []byte
}

// openAPI answers GET /api/openapi.json.
func (*Accounts) openAPI(*call) (any, error) {
	return document{"application/json", "no-cache", openAPIDocument}, nil
}

// write implements written.
func (d document) write(w http.ResponseWriter) {
	writeHeader(w, d.contentType, d.caching)
	_, _ = w.Write(d.body) // the client may have left
}

func writeHeader(w http.ResponseWriter, contentType, caching string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", caching)
}
