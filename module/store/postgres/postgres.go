// Package postgres keeps users, sessions and keys in a PostgreSQL database: the
// store for several machines.
//
// It promises that a change made by one gateway is told to the others at once,
// and seen within two seconds where telling fails; that a database which is
// down, slow or started anew is waited for; and that nothing it says shows how
// the database is reached. It refuses a DSN that is written out. Nothing is
// connected to while a configuration is provisioned.
package postgres

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store"
)

func init() {
	caddy.RegisterModule(Postgres{})
}

// Postgres keeps users, sessions and keys in a PostgreSQL database, version 12
// or newer, which several gateways may share.
type Postgres struct {
	// DSN refers to how the database is reached: {env.NAME} or
	// {file./absolute/path}, with a value such as
	// postgres://user:password@host:5432/database?sslmode=verify-full. The
	// user needs the right to make tables when the gateway starts for the first
	// time and after upgrades. Required.
	DSN string `json:"dsn"`

	*store.Store `json:"-"`
}

// CaddyModule returns the Caddy module information.
func (Postgres) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.stores.postgres",
		New: func() caddy.Module { return new(Postgres) },
	}
}

// errReference is said instead of aigateway.ErrSecretLiteral, which does not
// know what the secret is called here.
var errReference = errors.New("the DSN of postgres is given as {env.NAME} or {file./absolute/path}, never as itself, which is also what {$NAME} becomes")

// Provision takes the store of the database, without connecting to it.
func (p *Postgres) Provision(caddy.Context) error {
	if aigateway.CheckSecretReference(p.DSN) != nil {
		return fmt.Errorf("store: %w", errReference)
	}
	dsn, err := aigateway.ResolveSecret(p.DSN)
	if err != nil {
		return fmt.Errorf("store postgres: dsn: %w", err)
	}
	backend, err := newServer(dsn)
	if err != nil {
		return fmt.Errorf("store postgres: dsn: %w", err)
	}
	p.Store = store.Shared(backend, p.CaddyModule().ID)
	return nil
}

// Cleanup gives the store back.
func (p *Postgres) Cleanup() error {
	if p.Store == nil {
		return nil
	}
	return p.Release()
}

// UnmarshalCaddyfile reads the store. Syntax:
//
//	postgres {env.NAME} | {file./absolute/path}
func (p *Postgres) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	args := d.RemainingArgs()
	if len(args) != 1 {
		return d.Err("postgres takes one argument: {env.NAME} or {file./absolute/path}, which hold the DSN")
	}
	if aigateway.CheckSecretReference(args[0]) != nil {
		return d.WrapErr(errReference)
	}
	if d.NextBlock(d.Nesting()) {
		return d.Err("postgres takes no block")
	}
	p.DSN = args[0]
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Postgres)(nil)
	_ caddy.CleanerUpper    = (*Postgres)(nil)
	_ caddyfile.Unmarshaler = (*Postgres)(nil)
	_ aigateway.Store       = (*Postgres)(nil)
)
