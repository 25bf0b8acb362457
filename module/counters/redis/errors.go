package redis

import (
	"errors"
	"net"

	goredis "github.com/redis/go-redis/v9"
)

// serverError is an error of a call of the server. OnError then decides whether requests
// are refused or served.
type serverError struct{ cause error }

func (e *serverError) Error() string { return "calling the Redis server: " + e.cause.Error() }

func (e *serverError) Unwrap() error { return e.cause }

var (
	errResting      error = &serverError{errors.New("the server did not answer; it gets no calls for a second")}
	errBudgetsLost  error = &serverError{errors.New("the server loses budgets immediately after they are restored")}
	errAnswerLength error = &serverError{errors.New("the answer of the script has the wrong length")}
)

// isServerError reports whether an error is a serverError. Errors of the ledger are not.
func isServerError(err error) bool {
	target := (*serverError)(nil)
	return errors.As(err, &target)
}

// isAnswer reports whether the server has answered with this error.
func isAnswer(err error) bool {
	answer := goredis.Error(nil)
	return errors.As(err, &answer)
}

// isUncertain reports whether a call that returned an error may have succeeded on the
// server: the call may have reached it, and the answer is unknown.
func isUncertain(err error) bool {
	if errors.Is(err, errResting) || isAnswer(err) {
		return false
	}
	dial := (*net.OpError)(nil)
	return !errors.As(err, &dial) || dial.Op != "dial"
}
