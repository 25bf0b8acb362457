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
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
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

	// Timeout is the longest time that a request waits for the server. Default: 250ms.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// OnError selects how requests are treated while the server does not answer, or
	// refuses changes. "deny" refuses them with 503, or 529 in the messages format. "allow"
	// serves them, and counts their tokens and money when the server answers again. The
	// use of requests that end during an outage is counted after it, too: up to 65536
	// changes wait for up to 24 hours, and further changes are dropped. Default: "deny".
	OnError string `json:"on_error,omitempty"`

	server *server
	id     identity // the key of server in pool
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
		return d.WrapErr(errAddress)
	}
	if err := checkAddresses(r.Address); err != nil {
		return d.WrapErr(err)
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
		if d.NextArg() {
			return d.Err("tls has no value")
		}
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
		return d.Err(suggest.Unrecognized("counters redis", word, []string{"on_error", "password", "timeout", "tls", "username"}))
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

// checkAddresses returns an error for a list of addresses that no connection can use.
func checkAddresses(list string) error {
	for address := range strings.SplitSeq(list, ",") {
		_, port, err := net.SplitHostPort(address)
		if _, invalid := strconv.ParseUint(port, 10, 16); err != nil || invalid != nil {
			return fmt.Errorf("%w, not '%s'", errAddress, address)
		}
	}
	return nil
}

var (
	errAddress = errors.New("counters redis needs the address of a server, host:port, or several addresses of a cluster, separated by commas")
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
	if err := checkAddresses(r.Address); err != nil {
		return err
	}
	password, err := r.secret()
	if err != nil {
		return fmt.Errorf("password: %w", err)
	}
	r.id = identity{r.Address, r.Username, r.Password, r.TLS, r.Timeout}
	loaded, _, err := pool.LoadOrNew(r.id, func() (caddy.Destructor, error) {
		s := newServer(r.client(password), time.Duration(r.Timeout), ctx.Logger())
		s.watcher.Go(s.watch)
		return s, nil
	})
	if err != nil {
		return err
	}
	r.server = loaded.(*server)
	return nil
}

// identity identifies a server: configurations with the same identity share it.
type identity struct {
	address, username, password string // the reference to the password
	tls                         bool
	timeout                     caddy.Duration
}

// pool contains the servers in use, which survive reloads.
var pool = caddy.NewUsagePool()

// Limiter implements aigateway.Counters.
func (r *Redis) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	return &limiter{Redis: r, limits: limits}, nil
}

// Degraded implements aigateway.Degradable.
func (r *Redis) Degraded() error { return r.server.circuit.problem() }

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
	_ aigateway.Degradable  = (*Redis)(nil)
	_ aigateway.LimitViewer = (*limiter)(nil)
	_ aigateway.Amender     = (*limiter)(nil)
)
