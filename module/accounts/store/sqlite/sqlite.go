// Package sqlite implements the store over a SQLite file on one machine.
//
// It promises that several processes may use the file at once; that a change is on the
// disk before its call returns; that only the owner can read a new file, and that the log
// warns about other permissions; and that a file that replaces the database takes effect
// at once, without any content of the old file. It makes a backup beside the file before
// it changes the schema. It creates no file while a configuration is provisioned.
//
// It refuses files of other programs, and never repairs or replaces a damaged file.
package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
	caddy.RegisterModule(SQLite{})
}

// SQLite stores users, sessions and keys in a file of this machine.
type SQLite struct {
	// Path is the absolute path of the file of the database. It may contain placeholders
	// such as {env.NAME}. The gateway creates the file and its folder if they are missing.
	// The file must not be on a network file system. Default: ai_gateway/gateway.db in
	// Caddy's data directory.
	Path string `json:"path,omitempty"`

	*store.Store `json:"-"`

	*ledger.Reader `json:"-"`

	records string // the path of the ledger
	journal string // the folder of its journal, unless the configuration sets one
}

// CaddyModule returns the Caddy module information.
func (SQLite) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.stores.sqlite",
		New: func() caddy.Module { return new(SQLite) },
	}
}

// Provision loads the store of the file, but does not open the file.
func (s *SQLite) Provision(ctx caddy.Context) error {
	path, err := s.resolve()
	if err != nil {
		return fmt.Errorf("store sqlite: path: %w", err)
	}
	extension := filepath.Ext(path)
	s.records = strings.TrimSuffix(path, extension) + "-ledger" + extension
	s.journal = strings.TrimSuffix(path, extension) + "-journal"
	s.Reader = ledger.NewReader(s.ledgerFile(), func() *zap.Logger { return caddy.Log().Named(string(s.CaddyModule().ID)) })
	s.Store = store.Shared(ctx, &file{schema: accounts, path: path}, s.CaddyModule().ID)
	return nil
}

// resolve returns the absolute path of the file.
func (s *SQLite) resolve() (string, error) {
	if s.Path == "" {
		return store.DataPath("gateway.db")
	}
	path, err := caddy.NewReplacer().ReplaceOrErr(s.Path, true, true)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		return "", errRelative
	}
	return path, nil
}

// errRelative is the error for a path that would name another file, without any users,
// when Caddy or a command is started in another directory.
var errRelative = errors.New("must be absolute")

// Cleanup releases the store.
func (s *SQLite) Cleanup() error {
	if s.Store == nil {
		return nil
	}
	return errors.Join(s.Reader.Close(), s.Release())
}

// ledgerFile returns the file of the ledger, which is beside the file of the store. It is
// another file because the ledger grows faster, and because a restored backup of the
// store must not change the ledger.
func (s *SQLite) ledgerFile() *file { return &file{schema: records, path: s.records} }

// OpenLedger implements accounting.LedgerStore.
func (s *SQLite) OpenLedger(options accounting.LedgerOptions) (accounting.Ledger, error) {
	return ledger.Shared(options, s.journal, func() database.Backend { return s.ledgerFile() }, s.CaddyModule().ID)
}

// UnmarshalCaddyfile reads the path. Syntax:
//
//	sqlite [<path>]
func (s *SQLite) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if d.NextArg() {
		s.Path = d.Val()
	}
	if d.NextArg() {
		return d.Err("sqlite has at most one argument, the path of the file")
	}
	if d.NextBlock(d.Nesting()) {
		return d.Err("sqlite has no block")
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner      = (*SQLite)(nil)
	_ caddy.CleanerUpper     = (*SQLite)(nil)
	_ caddyfile.Unmarshaler  = (*SQLite)(nil)
	_ aigateway.Store        = (*SQLite)(nil)
	_ accounting.LedgerStore = (*SQLite)(nil)
)
