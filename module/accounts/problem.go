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

// problem is why a request is refused: a status and a sentence for the client,
// which repeats nothing of a request but names of fields.
type problem struct {
	status  int
	message string
	retry   time.Duration // when to come again; zero says nothing about it
}

// Error is the sentence for the client.
func (p *problem) Error() string { return p.message }

func refuse(status int, format string, args ...any) *problem {
	return &problem{status: status, message: fmt.Sprintf(format, args...)}
}

// invalid refuses a field.
func invalid(format string, args ...any) *problem {
	return refuse(http.StatusBadRequest, format, args...)
}

// later asks the client to come again.
func later(status int, after time.Duration, message string) *problem {
	return &problem{status, message, after}
}

var errTooManyChanges = later(http.StatusServiceUnavailable, time.Second, "too many changes at once, try again")

// statusClientClosed is what access logs show of a client that has left.
const statusClientClosed = 499

// problemOf is what the client is told of an error. What only we can mend is
// logged.
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
		a.logger.Error("the store of accounts cannot be reached", zap.Error(err))
		return later(http.StatusServiceUnavailable, 2*time.Second, "accounts are not available for the moment")
	}
	a.logger.Error("answering a request about accounts", zap.Error(err))
	return refuse(http.StatusInternalServerError, "internal error")
}
