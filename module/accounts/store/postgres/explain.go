package postgres

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// SQLSTATEs, and prefixes of them.
const (
	uniqueViolation      = "23505" // a value must be unique, but exists already
	readOnly             = "25006"
	operatorIntervention = "57"    // the server starts up or shuts down, or ...
	queryCanceled        = "57014" // ... a statement took too long
)

// Explain implements database.Backend. It does not wrap errors of the driver, which
// contain parts of the DSN.
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
		return "looking up the address: " + dns.Err
	case errors.As(err, &network):
		return network.Op + ": " + network.Err.Error()
	case errors.As(err, &host):
		return "connecting: the certificate is for another host"
	case errors.As(err, &connect):
		return "connecting: " + innermost(connect).Error()
	}
	return err.Error()
}

// innermost returns the innermost error, because the errors that wrap it contain the
// address. Of joined errors, it follows the first.
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

// reasons are explanations of SQLSTATEs and their prefixes, for the operator.
var reasons = map[string]string{
	"28":    "the login was refused",
	"3D":    "the database does not exist",
	"53100": "the disk is full",
	"53300": "there are too many connections",
	"57P":   "the server is starting up or shutting down",
	"57014": "the statement took too long",
	"55P03": "the statement took too long",
	"25006": "the database is read-only",
	"42501": "the user lacks a permission",
}

// serverReason returns the explanation of an error of the server, or its message, which
// does not contain parameters.
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
