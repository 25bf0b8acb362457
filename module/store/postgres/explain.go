package postgres

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// uniqueViolation is the SQLSTATE of what exists already.
const uniqueViolation = "23505"

// Explain implements database.Backend. It wraps no error of the driver: those tell
// who connects to what.
func (*server) Explain(err error) error {
	var failure *pgconn.PgError
	if errors.As(err, &failure) && failure.Code == uniqueViolation {
		return aigateway.ErrTaken
	}
	return fmt.Errorf("%w: PostgreSQL: %s", aigateway.ErrUnavailable, reason(err))
}

func reason(err error) string {
	var (
		failure *pgconn.PgError
		connect *pgconn.ConnectError
		dns     *net.DNSError
		network *net.OpError
		host    x509.HostnameError
	)
	switch {
	case errors.As(err, &failure):
		return serverReason(failure)
	case errors.As(err, &dns):
		return "looking up its address: " + dns.Err
	case errors.As(err, &network):
		return network.Op + ": " + network.Err.Error()
	case errors.As(err, &host):
		return "connecting: its certificate is for another host"
	case errors.As(err, &connect):
		return "connecting: " + innermost(connect).Error()
	}
	return err.Error()
}

// innermost is what an error comes down to, of several the first: those around
// it name the address.
func innermost(err error) error {
	for {
		var inner error
		switch outer := err.(type) {
		case interface{ Unwrap() error }:
			inner = outer.Unwrap()
		case interface{ Unwrap() []error }:
			inner = outer.Unwrap()[0]
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}

// reasons says what a SQLSTATE, or a class of them, means to whoever runs the
// gateway.
var reasons = map[string]string{
	"28":    "it refuses the login",
	"3D":    "there is no such database",
	"53100": "its disk is full",
	"53300": "it has too many connections",
	"57P":   "it is starting up or shutting down",
	"57014": "it took too long",
	"55P03": "it took too long",
	"25006": "it is read-only",
	"42501": "the user may not do that",
}

// serverReason tells what the server said, but not with what it was called.
func serverReason(failure *pgconn.PgError) string {
	for _, length := range []int{5, 3, 2} {
		if len(failure.Code) < length {
			continue
		}
		if known, ok := reasons[failure.Code[:length]]; ok {
			return fmt.Sprintf("%s (SQLSTATE %s)", known, failure.Code)
		}
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", failure.Message, failure.Code)
}
