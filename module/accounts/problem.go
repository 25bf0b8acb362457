package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

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
func (a *Accounts) problemOf(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, aigateway.ErrNotFound):
		return refuse(http.StatusNotFound, "not found")
	case errors.Is(err, aigateway.ErrTaken):
		return refuse(http.StatusConflict, "the username is taken")
	case errors.Is(err, aigateway.ErrLastRoot):
		return refuse(http.StatusConflict, "the last enabled root user must stay")
	case errors.Is(err, context.Canceled):
		return refuse(statusClientClosed, "the client has left")
	case errors.Is(err, aigateway.ErrBusy):
		a.logger.Warn("too many changes of accounts at once")
		return errTooManyChanges
	case errors.Is(err, aigateway.ErrUnavailable):
		a.logger.Error("store of accounts is not available", zap.Error(err))
		return later(http.StatusServiceUnavailable, 2*time.Second, "accounts are not available at the moment")
	}
	a.logger.Error("answering request for accounts", zap.Error(err))
	return refuse(http.StatusInternalServerError, "internal error")
}
