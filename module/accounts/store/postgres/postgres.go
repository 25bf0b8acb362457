// Package postgres implements the store over a PostgreSQL database, which several
// machines can share.
//
// It promises that gateways notify each other of changes, and that they find changes
// within two seconds if a notification is lost; that it recovers when a database that was
// down, slow or restarted is available again; and that errors and logs contain no part of
// the DSN. It does not connect while a configuration is provisioned.
//
// It refuses a literal DSN in the configuration.
package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

func init() {
	caddy.RegisterModule(Postgres{})
}

// Postgres stores users, sessions and keys in a PostgreSQL database, version 12 or
// newer. Several gateways may share the database.
type Postgres struct {
	// DSN is a reference to the data source name: {env.NAME} or
	// {file./absolute/path}, with a value such as
	// postgres://user:password@host:5432/database?sslmode=verify-full. The user
	// needs the right to create tables for the first start and for upgrades.
	// Required.
	DSN string `json:"dsn"`

	*store.Store `json:"-"`

	*ledger.Reader `json:"-"`

	records *server // the tables of the ledger
}

// CaddyModule returns the Caddy module information.
func (Postgres) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.stores.postgres",
		New: func() caddy.Module { return new(Postgres) },
	}
}

// Provision loads the store of the database, but does not connect to it.
func (p *Postgres) Provision(ctx caddy.Context) error {
	dsn, err := aigateway.ResolveSecret(p.DSN)
	if err != nil {
		return fmt.Errorf("store postgres: dsn: %w", err)
	}
	backend, err := newServer(accounts, dsn)
	if err != nil {
		return fmt.Errorf("store postgres: dsn: %w", err)
	}
	if p.records, err = newServer(records, dsn); err != nil {
		return fmt.Errorf("store postgres: dsn: %w", err)
	}
	p.Reader = ledger.NewReader(p.records, func() *zap.Logger { return caddy.Log().Named(string(p.CaddyModule().ID)) })
	p.Store = store.Shared(ctx, backend, p.CaddyModule().ID)
	return nil
}

// Cleanup releases the store.
func (p *Postgres) Cleanup() error {
	if p.Store == nil {
		return nil
	}
	return errors.Join(p.Reader.Close(), p.Release())
}

// OpenLedger implements accounting.LedgerStore. The ledger has its own tables in the same
// database.
func (p *Postgres) OpenLedger(options accounting.LedgerOptions) (accounting.Ledger, error) {
	digest := sha256.Sum256([]byte(p.records.Identity()))
	journal, err := store.DataPath("journal-" + hex.EncodeToString(digest[:8]))
	if err != nil {
		return nil, err
	}
	return ledger.Shared(options, journal, func() database.Backend { return p.records }, p.CaddyModule().ID)
}

// UnmarshalCaddyfile reads the DSN. Syntax:
//
//	postgres {env.NAME} | {file./absolute/path}
func (p *Postgres) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	args := d.RemainingArgs()
	if len(args) != 1 {
		return d.Err("postgres needs one argument, {env.NAME} or {file./absolute/path} with the DSN")
	}
	if err := aigateway.CheckSecretReference(args[0]); err != nil {
		return d.WrapErr(fmt.Errorf("dsn: %w", err))
	}
	if d.NextBlock(d.Nesting()) {
		return d.Err("postgres has no block")
	}
	p.DSN = args[0]
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner      = (*Postgres)(nil)
	_ caddy.CleanerUpper     = (*Postgres)(nil)
	_ caddyfile.Unmarshaler  = (*Postgres)(nil)
	_ aigateway.Store        = (*Postgres)(nil)
	_ accounting.LedgerStore = (*Postgres)(nil)
)
