package accounts

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

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
func openAPI(*Accounts, *call) (any, error) {
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

// problem is the reason for which a request is refused: a status and a message for the
// client. Of the request, the message contains only names of fields.
type problem struct {
	status  int
	message string
	retry   time.Duration // when to send the request again; 0 if unknown
}

// Error returns the message.
func (p *problem) Error() string { return p.message }

func refuse(status int, format string, args ...any) *problem {
	return &problem{status: status, message: fmt.Sprintf(format, args...)}
}

// invalid returns a problem with status 400.
func invalid(format string, args ...any) *problem {
	return refuse(http.StatusBadRequest, format, args...)
}

// later returns a problem that asks the client to send the request again.
func later(status int, after time.Duration, message string) *problem {
	return &problem{status, message, after}
}

var errTooManyChanges = later(http.StatusServiceUnavailable, time.Second, "too many changes at once, try again")

// statusClientClosed is the status in access logs if the client has left.
const statusClientClosed = 499

// problemOf returns the problem for an error. It logs errors that the client did not
// cause.
func problemOf(logger *zap.Logger, err error) *problem {
	var p *problem
	var shown caddy.APIError // of a view of the gateway
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &shown):
		return refuse(shown.HTTPStatus, "%s", shown.Err)
	case errors.Is(err, aigateway.ErrNotFound):
		return refuse(http.StatusNotFound, "not found")
	case errors.Is(err, aigateway.ErrTaken):
		return refuse(http.StatusConflict, "the username is taken")
	case errors.Is(err, aigateway.ErrLastRoot):
		return refuse(http.StatusConflict, "the last enabled root user must stay")
	case errors.Is(err, aigateway.ErrNoMember):
		return refuse(http.StatusConflict, "the user is no member of the team")
	case errors.Is(err, aigateway.ErrHasKeys):
		return refuse(http.StatusConflict, "there are keys of the team: delete them first, or with keys=delete (--delete-keys of the command)")
	case errors.Is(err, context.Canceled):
		return refuse(statusClientClosed, "the client has left")
	case errors.Is(err, aigateway.ErrBusy):
		logger.Warn("too many changes of accounts at once")
		return errTooManyChanges
	case errors.Is(err, aigateway.ErrUnavailable):
		logger.Error("store of accounts is not available", zap.Error(err))
		return later(http.StatusServiceUnavailable, 2*time.Second, "accounts are not available at the moment")
	}
	logger.Error("answering request for accounts", zap.Error(err))
	return refuse(http.StatusInternalServerError, "internal error")
}
