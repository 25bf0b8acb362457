package redis

import (
	"errors"
	"net"

	goredis "github.com/redis/go-redis/v9"
)

// serverError is why the server did not do what it was asked. on_error decides then what
// becomes of a request.
type serverError struct{ cause error }

func (e *serverError) Error() string { return "asking Redis: " + e.cause.Error() }

func (e *serverError) Unwrap() error { return e.cause }

var (
	errResting error = &serverError{errors.New("the server did not answer; it is asked again in a second")}
	errLosing  error = &serverError{errors.New("the server loses budgets as soon as they are restored")}
	errAnswer  error = &serverError{errors.New("the answer has another length than the script gives it")}
)

// isOfServer reports whether an error is one of the server, and none of the ledger.
func isOfServer(err error) bool {
	of := (*serverError)(nil)
	return errors.As(err, &of)
}

// isAnswer reports whether an error is an answer of the server.
func isAnswer(err error) bool {
	answer := goredis.Error(nil)
	return errors.As(err, &answer)
}

// isUncertain reports whether the server may have done what a call asked that ended with
// an error: the call reached it, and its answer is unknown.
func isUncertain(err error) bool {
	if err == errResting || isAnswer(err) {
		return false
	}
	dial := (*net.OpError)(nil)
	return !errors.As(err, &dial) || dial.Op != "dial"
}
