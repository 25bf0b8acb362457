// Package sqlite keeps users, sessions and keys in a SQLite file: the store for
// one machine.
//
// It promises that several processes may use the file at once, that a change
// is on the disk when it is answered, and that the file is readable for its
// owner alone, or else says so. A file that is put in its place is the database
// from then on, with nothing of the old one in it. The package refuses a file
// that something else has made, never repairs or replaces a damaged one, and
// keeps a copy beside the file before it changes the schema. It refuses nothing
// but a bad path while a configuration is provisioned, and makes no file then.
package sqlite

import (
	"fmt"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store"
)

func init() {
	caddy.RegisterModule(SQLite{})
}

// SQLite keeps users, sessions and keys in a file of this machine.
type SQLite struct {
	// Path is the file of the database. It and its folder are made when they
	// are missing. A network file system is no place for it. Placeholders such
	// as {env.NAME} are replaced. Default: ai_gateway/gateway.db in Caddy's
	// data directory.
	Path string `json:"path,omitempty"`

	*store.Store `json:"-"`
}

// CaddyModule returns the Caddy module information.
func (SQLite) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.stores.sqlite",
		New: func() caddy.Module { return new(SQLite) },
	}
}

// Provision takes the store of the file, without opening it.
func (s *SQLite) Provision(caddy.Context) error {
	path, err := s.resolve()
	if err != nil {
		return fmt.Errorf("store sqlite: path: %w", err)
	}
	s.Store = store.Shared(&file{path: path}, s.CaddyModule().ID)
	return nil
}

// resolve returns the absolute path of the file.
func (s *SQLite) resolve() (string, error) {
	if s.Path == "" {
		return filepath.Join(caddy.AppDataDir(), "ai_gateway", "gateway.db"), nil
	}
	path, err := caddy.NewReplacer().ReplaceOrErr(s.Path, true, true)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// Cleanup gives the store back.
func (s *SQLite) Cleanup() error {
	if s.Store == nil {
		return nil
	}
	return s.Release()
}

// UnmarshalCaddyfile reads the store. Syntax:
//
//	sqlite [<path>]
func (s *SQLite) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if d.NextArg() {
		s.Path = d.Val()
	}
	if d.NextArg() {
		return d.Err("sqlite takes at most one argument, the path of the file")
	}
	if d.NextBlock(d.Nesting()) {
		return d.Err("sqlite takes no block")
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*SQLite)(nil)
	_ caddy.CleanerUpper    = (*SQLite)(nil)
	_ caddyfile.Unmarshaler = (*SQLite)(nil)
	_ aigateway.Store       = (*SQLite)(nil)
)
