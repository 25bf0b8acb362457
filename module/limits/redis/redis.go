// Package redis contains the counters "redis": several gateways count the use of limits
// together, in a Redis server.
//
// It promises what the counters in memory promise, across machines: one script decides
// about all limits of a request, by the clock of the server alone. What a request has used
// counts once, also if the server was away or answered late. A gateway that dies frees its
// running requests within minutes; what it had reserved of budgets stays counted. A server
// that loses its data is filled again from the ledger.
//
// It refuses to decide without the server, unless on_error allows that.
//
// A limiter asks the script admit a question about the limits of a request. An admitted one
// has a reservation. What becomes of it are changes, which wait in the backlog of the
// server until they have been sent. The server is one for all configurations with the same
// settings; its circuit spares requests the wait while it does not answer.
package redis

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() { caddy.RegisterModule(Redis{}) }

// Redis counts the use of limits in a Redis server, version 5 or newer.
type Redis struct {
	// Address is the host and the port of the server. A Redis Cluster needs the addresses
	// of some of its nodes, separated by commas.
	Address string `json:"address"`

	// Username and Password log in to the server. Password is a reference: {env.NAME} or
	// {file./absolute/path}. Default: none.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`

	// TLS encrypts the connection. Default: false.
	TLS bool `json:"tls,omitempty"`

	// Timeout bounds how long a request waits for the server. Default: 250ms.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// OnError is what becomes of requests while the server does not answer, or refuses
	// changes: "deny" refuses them with 503, or 529 to messages clients; "allow" serves
	// them, and counts their tokens and their money once the server answers. What ends
	// meanwhile is counted then as well: at most 65536 changes wait, for at most 24 hours,
	// and further ones are dropped. Default: "deny".
	OnError string `json:"on_error,omitempty"`

	server *server
	id     identity // of the server in pool
}

// The values of OnError.
const (
	deny  = "deny"
	allow = "allow"
)

const defaultTimeout = 250 * time.Millisecond

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
	if !d.Args(&r.Address) || d.NextArg() {
		return d.Err("counters redis needs the address of a server: host:port")
	}
	for d.NextBlock(0) {
		if err := r.unmarshalWord(d); err != nil {
			return err
		}
	}
	return nil
}

func (r *Redis) unmarshalWord(d *caddyfile.Dispenser) error {
	word := d.Val()
	if word == "tls" {
		r.TLS = true
		return nil
	}
	texts := map[string]*string{"username": &r.Username, "password": &r.Password, "on_error": &r.OnError}
	if text := texts[word]; text != nil {
		if !d.AllArgs(text) {
			return d.ArgErr()
		}
		return nil
	}
	if word != "timeout" {
		return d.Errf("unrecognized word in counters redis: '%s'; known are: on_error, password, timeout, tls, username", word)
	}
	var value string
	if !d.AllArgs(&value) {
		return d.ArgErr()
	}
	timeout, err := caddy.ParseDuration(value)
	if err != nil {
		return d.Errf("timeout: %w", err)
	}
	r.Timeout = caddy.Duration(timeout)
	return nil
}

var (
	errOnError = errors.New("on_error must be deny or allow")
	errTimeout = errors.New("timeout must be 1ms to 10s")
)

// Provision checks the configuration. It does not connect.
func (r *Redis) Provision(ctx caddy.Context) error {
	if r.OnError == "" {
		r.OnError = deny
	}
	if r.OnError != deny && r.OnError != allow {
		return errOnError
	}
	if r.Timeout == 0 {
		r.Timeout = caddy.Duration(defaultTimeout)
	}
	if timeout := time.Duration(r.Timeout); timeout < time.Millisecond || timeout > 10*time.Second {
		return errTimeout
	}
	password, err := r.secret()
	if err != nil {
		return fmt.Errorf("password: %w", err)
	}
	r.id = identity{r.Address, r.Username, r.Password, r.TLS, r.Timeout}
	loaded, _, err := pool.LoadOrNew(r.id, func() (caddy.Destructor, error) {
		return newServer(r.client(password), time.Duration(r.Timeout), ctx.Logger()), nil
	})
	if err != nil {
		return err
	}
	r.server = loaded.(*server)
	return nil
}

// identity distinguishes servers in use: configurations with an equal one share theirs.
type identity struct {
	address, username, password string // the reference to the password
	tls                         bool
	timeout                     caddy.Duration
}

// pool has the servers in use, which last over reloads.
var pool = caddy.NewUsagePool()

// Limiter implements aigateway.Counters.
func (r *Redis) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	return &limiter{Redis: r, limits: limits}, nil
}

// Cleanup releases the server.
func (r *Redis) Cleanup() error {
	if r.server == nil {
		return nil
	}
	_, err := pool.Delete(r.id)
	return err
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Redis)(nil)
	_ caddy.CleanerUpper    = (*Redis)(nil)
	_ caddyfile.Unmarshaler = (*Redis)(nil)
	_ aigateway.Counters    = (*Redis)(nil)
)
