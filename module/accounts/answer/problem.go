package answer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Problem is the reason for which a request is refused: a status and a message for the
// client. Of the request, the message contains only names of fields.
type Problem struct {
	Status  int
	Message string
	Retry   time.Duration // when to send the request again; 0 if unknown
}

// Error returns the message.
func (p *Problem) Error() string { return p.Message }

// Refuse returns a problem with a status, and a message as fmt.Sprintf formats it.
func Refuse(status int, format string, args ...any) *Problem {
	return &Problem{Status: status, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns a problem with status 400.
func Invalid(format string, args ...any) *Problem {
	return Refuse(http.StatusBadRequest, format, args...)
}

// Later returns a problem that asks the client to send the request again.
func Later(status int, wait time.Duration, message string) *Problem {
	return &Problem{status, message, wait}
}

// ErrTooManyChanges is the problem of a change while too many others wait.
var ErrTooManyChanges = Later(http.StatusServiceUnavailable, time.Second, "too many changes at once, try again")

// statusClientClosed is the status in access logs if the client has left.
const statusClientClosed = 499

// ProblemOf returns the problem for an error. It logs errors that the client did not
// cause.
func ProblemOf(logger *zap.Logger, err error) *Problem {
	var p *Problem
	var shown caddy.APIError // of a view of the gateway
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &shown):
		return Refuse(shown.HTTPStatus, "%s", shown.Err)
	case errors.Is(err, aigateway.ErrNotFound):
		return Refuse(http.StatusNotFound, "not found")
	case errors.Is(err, aigateway.ErrTaken):
		return Refuse(http.StatusConflict, "the username is taken")
	case errors.Is(err, aigateway.ErrLastRoot):
		return Refuse(http.StatusConflict, "the last enabled root user must stay")
	case errors.Is(err, aigateway.ErrNoMember):
		return Refuse(http.StatusConflict, "the user is no member of the team")
	case errors.Is(err, aigateway.ErrHasKeys):
		return Refuse(http.StatusConflict, "there are keys of the team: delete them first, or with keys=delete (--delete-keys of the command)")
	case errors.Is(err, context.Canceled):
		return Refuse(statusClientClosed, "the client has left")
	case errors.Is(err, aigateway.ErrBusy):
		logger.Warn("too many changes of accounts at once")
		return ErrTooManyChanges
	case errors.Is(err, aigateway.ErrUnavailable):
		logger.Error("store of accounts is not available", zap.Error(err))
		return Later(http.StatusServiceUnavailable, 2*time.Second, "accounts are not available at the moment")
	}
	logger.Error("answering request for accounts", zap.Error(err))
	return Refuse(http.StatusInternalServerError, "internal error")
}
