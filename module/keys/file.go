package keys

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/filewatch"
)

// FileKeys are the keys of a file. A change of the file takes effect within about
// two seconds, without a reload of the configuration. While the file cannot be read
// or is invalid, the previous keys stay valid, and the log contains the reason.
type FileKeys struct {
	// Path is the absolute path of the file. It may contain placeholders such as
	// {env.*}. The file has the keys of a Caddyfile, "key <name> <reference or
	// digest>" and an optional block, and comments, which begin with "#". The
	// keys that references refer to are read when the file changes. The file has
	// at most 16 MiB.
	Path string `json:"path"`

	keys   atomic.Pointer[set]
	logger *zap.Logger
	file   filewatch.File

	mu     sync.Mutex // guards checks, and makes check and replacement one step
	checks []func(iter.Seq[*aigateway.Key]) error
}

// CaddyModule returns the Caddy module information.
func (*FileKeys) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.file",
		New: func() caddy.Module { return new(FileKeys) },
	}
}

// Provision reads the file, and starts to follow it until ctx ends.
func (f *FileKeys) Provision(ctx caddy.Context) error {
	f.logger = ctx.Logger()
	f.file = filewatch.File{Path: f.Path, Name: "keys file", Parts: "keys", Logger: f.logger, Accept: f.accept}
	return f.file.Start(ctx)
}

// accept replaces the keys by those of a text, if every check allows it.
func (f *FileKeys) accept(text []byte) error {
	keys, err := f.parse(text)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, check := range f.checks {
		if err := check(keys.all()); err != nil {
			return f.withLine(err, keys)
		}
	}
	f.keys.Store(keys)
	return nil
}

// withLine adds the line of the key to an error about one key.
func (f *FileKeys) withLine(err error, keys *set) error {
	var about *aigateway.KeyError
	if errors.As(err, &about) && keys.lines[about.ID] > 0 {
		return fmt.Errorf("%w, at %s:%d", err, f.file.Path, keys.lines[about.ID])
	}
	return err
}

// parse returns the keys of a text. Its errors contain the file and the line.
func (f *FileKeys) parse(text []byte) (*set, error) {
	tokens, err := caddyfile.Tokenize(text, f.file.Path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.file.Path, err)
	}
	keys := newSet(f.logger)
	for d := caddyfile.NewDispenser(tokens); d.Next(); {
		line := *d // errors about the whole key contain its first line
		if d.Val() != "key" {
			return nil, d.WrapErr(errNoKey)
		}
		entry, err := readEntry(d)
		if err != nil {
			return nil, err
		}
		if err := keys.add(entry, line.Line()); err != nil {
			return nil, line.WrapErr(err)
		}
	}
	return keys, nil
}

// errNoKey does not repeat the wrong word, which may be a key.
var errNoKey = errors.New("each entry of a keys file begins with the word key: key <name> sha256:<digest>")

// Lookup implements aigateway.KeySource.
func (f *FileKeys) Lookup(digest aigateway.Digest) *aigateway.Key {
	return f.keys.Load().lookup(digest)
}

// All implements aigateway.KeyLister.
func (f *FileKeys) All() iter.Seq[*aigateway.Key] { return f.keys.Load().all() }

// CheckChanges implements aigateway.LiveKeyLister.
func (f *FileKeys) CheckChanges(check func(iter.Seq[*aigateway.Key]) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checks = append(f.checks, check)
}

// Interface guards
var (
	_ caddy.Provisioner       = (*FileKeys)(nil)
	_ caddyfile.Unmarshaler   = (*FileKeys)(nil)
	_ aigateway.KeySource     = (*FileKeys)(nil)
	_ aigateway.LiveKeyLister = (*FileKeys)(nil)
)
