package transport

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// callFault returns the fault of a call that ended with an error. The error of a body that the client
// was sending may be the fault itself.
func callFault(cause error) *fault.Fault {
	var refused *fault.Fault
	switch {
	case errors.As(cause, &refused):
		return refused
	case errors.Is(cause, aigateway.ErrKeyRefused):
		f := fault.Read(http.StatusUnauthorized, "", nil)
		f.Cause = cause
		return f
	case timedOut(cause):
		return fault.UpstreamTimeout(cause)
	case unreadable(cause):
		return fault.Unusable(cause)
	default:
		return fault.Unreachable(cause)
	}
}

// unreadable reports whether a call ended because its answer cannot be decoded or is too
// large.
func unreadable(err error) bool {
	for _, target := range [...]error{coding.ErrUnknown, coding.ErrBroken, coding.ErrTooLarge, sse.ErrTooLarge} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// timedOut reports whether a call ended by a timeout. errors.As does not find the error
// inside a dial error of reverse_proxy (T26), so timedOut checks its text: every timeout of
// the net package ends with the same words.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	var dial reverseproxy.DialError
	return errors.As(err, &dial) && strings.HasSuffix(dial.Error(), os.ErrDeadlineExceeded.Error())
}

// callError is the error of a call for reverse_proxy. It does not unwrap to
// context.Canceled: reverse_proxy would take that for a client that has disconnected, and
// answer 499 (T29).
type callError struct{ cause error }

func (e *callError) Error() string { return "calling provider: " + e.cause.Error() }

func (e *callError) Unwrap() error {
	if errors.Is(e.cause, context.Canceled) {
		return nil
	}
	return e.cause
}

// brokenOff returns the fault of a stream that ended with err before its last event. timeout
// is the cause if the call was cancelled, else nil.
func brokenOff(err, timeout error) *fault.Fault {
	switch {
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, coding.ErrTooLarge):
		return fault.Unusable(err)
	case timeout != nil:
		return fault.UpstreamTimeout(timeout)
	default:
		return fault.Truncated(err)
	}
}
