package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// foundUnfit is the name of the number of unfit connections at the time at which a connection
// was made.
const foundUnfit = "unfit"

// connector returns the connector of the pool. Among several hosts, it prefers one that can be
// written, unless the DSN chooses otherwise: after a failover, the first host may be read-only.
func (s *server) connector() driver.Connector {
	connect := func(config *pgx.ConnConfig) driver.Connector {
		return stdlib.GetConnector(*config, stdlib.OptionShouldPing(always), stdlib.OptionAfterConnect(s.connected), stdlib.OptionResetSession(s.reuse))
	}
	isOther := func(f *pgconn.FallbackConfig) bool { return f.Host != s.config.Host || f.Port != s.config.Port }
	if s.config.ValidateConnect != nil || !slices.ContainsFunc(s.config.Fallbacks, isOther) {
		return connect(s.config)
	}
	writable := s.config.Copy()
	writable.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	return preferring{connect(s.config), connect(writable)}
}

// preferring is a connector that connects to a read-only server only if there is no other.
type preferring struct {
	driver.Connector
	writable driver.Connector
}

// Connect implements driver.Connector.
func (p preferring) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.writable.Connect(ctx)
	if errors.Is(err, pgconn.ErrReadOnlyConnection) {
		return p.Connector.Connect(ctx)
	}
	return conn, err
}

// always makes the pool ping every connection before it uses it again. Otherwise, the
// first statement on a connection that the server has closed would fail.
func always(context.Context, stdlib.ShouldPingParams) bool { return true }

// keeps reports whether a connection stays open after an error of the server. A server that is
// read-only or shuts down answers pings, so that the pool would keep its connections after a
// failover.
func (s *server) keeps(_ *pgconn.PgConn, failure *pgconn.PgError) bool {
	if failure.Code == readOnly || strings.HasPrefix(failure.Code, operatorIntervention) && failure.Code != queryCanceled {
		s.unfit.Add(1)
		return false
	}
	return !strings.EqualFold(failure.SeverityUnlocalized, "FATAL")
}

// connected marks a new connection.
func (s *server) connected(_ context.Context, conn *pgx.Conn) error {
	conn.PgConn().CustomData()[foundUnfit] = s.unfit.Load()
	return nil
}

// reuse ends the use of a connection that is older than the last one that was found unfit: it
// probably is a connection of the same server.
func (s *server) reuse(_ context.Context, conn *pgx.Conn) error {
	if conn.PgConn().CustomData()[foundUnfit] != s.unfit.Load() {
		return driver.ErrBadConn
	}
	return nil
}
