// Package redis contains the counters "redis": several gateways count the use of limits
// together, in a Redis server.
//
// The package keeps the promises of the counters in memory across machines: one script
// decides about all limits of a request, by the clock of the server alone. The use of a
// request counts once, even if the server is unavailable or answers late. If a gateway
// crashes, its running requests no longer count after a few minutes, but the amounts that
// it had reserved of budgets stay counted. If the server loses its data, budgets are
// restored from the ledger.
//
// Without the server, the package refuses requests, unless on_error is allow.
//
// A limiter calls the script admit for each request. An admitted request has a reservation.
// Later changes, such as its settlement, wait in the backlog of the server until they have
// been sent. Configurations with the same settings share a server. While the server does
// not answer, its circuit prevents calls, so that requests do not wait.
package redis

import (
	"errors"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

func init() { caddy.RegisterModule(Redis{}) }

// Redis counts the use of limits in a Redis server, version 5 or newer.
type Redis struct {
	redisclient.Connection

	// OnError selects how requests are treated while the server does not answer, or
	// refuses changes. "deny" refuses them with 503, or 529 in the messages format. "allow"
	// serves them, and counts their tokens and money when the server answers again. The
	// use of requests that end during an outage is counted after it, too: up to 65536
	// changes wait for up to 24 hours, and further changes are dropped. Default: "deny".
	OnError string `json:"on_error,omitempty"`

	server  *server
	applied *applied
}

// The values of OnError.
const (
	deny  = "deny"
	allow = "allow"
)

// CaddyModule returns the Caddy module information.
func (Redis) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.counters.redis", New: func() caddy.Module { return new(Redis) }}
}

// UnmarshalCaddyfile reads the module. Syntax:
//
//	redis <address> {
//		username <name>
//		password <reference>
//		tls
//		timeout  <duration>
//		on_error deny | allow
//	}
func (r *Redis) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	return r.Connection.Unmarshal(d, "counters redis", map[string]*string{"on_error": &r.OnError})
}

var errOnError = errors.New("on_error must be deny or allow")

// Provision checks the configuration. It does not connect.
func (r *Redis) Provision(ctx caddy.Context) error {
	if r.OnError == "" {
		r.OnError = deny
	}
	if r.OnError != deny && r.OnError != allow {
		return errOnError
	}
	password, err := r.Connection.Provision()
	if err != nil {
		return err
	}
	loaded, _, err := pool.LoadOrNew(r.Connection, func() (caddy.Destructor, error) {
		s := newServer(r.Client(password, backgroundTimeout), time.Duration(r.Timeout), ctx.Logger())
		s.watcher.Go(s.watch)
		return s, nil
	})
	if err != nil {
		return err
	}
	r.server, r.applied = loaded.(*server), &applied{server: r.Connection}
	return nil
}

// pool contains the servers in use, which survive reloads.
var pool = caddy.NewUsagePool()

// Limiter implements aigateway.Counters.
func (r *Redis) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	l := &limiter{Redis: r, limits: slices.Clone(limits)}
	for i, limit := range l.limits {
		if limit.Budget.IsSet() {
			dated, err := r.applied.date(limit, r.server.clock.here())
			if err != nil {
				return nil, err
			}
			l.limits[i] = dated
		}
	}
	return l, nil
}

// Degraded implements aigateway.Degradable.
func (r *Redis) Degraded() error { return r.server.circuit.Problem() }

// Cleanup releases the server.
func (r *Redis) Cleanup() error {
	if r.server == nil {
		return nil
	}
	_, err := pool.Delete(r.Connection)
	return errors.Join(err, r.applied.release())
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Redis)(nil)
	_ caddy.CleanerUpper    = (*Redis)(nil)
	_ caddyfile.Unmarshaler = (*Redis)(nil)
	_ aigateway.Counters    = (*Redis)(nil)
	_ aigateway.Degradable  = (*Redis)(nil)
	_ aigateway.LimitViewer = (*limiter)(nil)
	_ aigateway.Amender     = (*limiter)(nil)
)
