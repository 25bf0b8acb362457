package keys

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	// pollInterval is how often the file is read. Reading it is cheap, and tells
	// of a change whichever way it was made: in place, by a rename, or by the
	// symbolic links of a mounted volume.
	pollInterval = time.Second
	maxFileSize  = 16 << 20
)

// errRelative: the same configuration would mean another file, and other keys,
// wherever Caddy is started.
var errRelative = errors.New("the path must be absolute")

// FileKeys are the keys of a file, which is followed: a change takes effect
// within about two seconds, without a reload of the configuration. While the
// file cannot be read or is wrong, the keys that were known before stay, and
// the log says why.
type FileKeys struct {
	// Path is the absolute path of the file, in which {env.*} is replaced. Each of its
	// keys is written as in a Caddyfile, "key <name> <reference or digest>" with
	// a block where there is more to say; the text behind a "#" is a comment.
	// What a reference refers to is read when the file changes. At most 16 MiB.
	Path string `json:"path"`

	keys   atomic.Pointer[set]
	logger *zap.Logger

	mu     sync.Mutex // guards checks
	checks []func(iter.Seq[*aigateway.Key]) error

	// What the goroutine that follows the file remembers.
	last    aigateway.Digest // of what it read last
	decided aigateway.Digest // of what was accepted or refused last
	trouble string           // why it could not read; "" when it could
}

// CaddyModule returns the Caddy module information.
func (*FileKeys) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.file",
		New: func() caddy.Module { return new(FileKeys) },
	}
}

// Provision reads the file and begins to follow it, until ctx ends.
func (f *FileKeys) Provision(ctx caddy.Context) error {
	f.logger = ctx.Logger()
	var err error
	if f.Path, err = caddy.NewReplacer().ReplaceOrErr(f.Path, true, true); err != nil {
		return fmt.Errorf("keys file: %w", err)
	}
	if !filepath.IsAbs(f.Path) {
		return fmt.Errorf("keys file: %w", errRelative)
	}
	text, err := readFile(f.Path)
	if err != nil {
		return fmt.Errorf("keys file: %w", err)
	}
	keys, err := f.parse(text)
	if err != nil {
		return fmt.Errorf("keys file: %w", err)
	}
	f.keys.Store(keys)
	f.decided = sha256.Sum256(text)
	go f.follow(ctx)
	return nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFileSize)
	}
	return text, err
}

func (f *FileKeys) follow(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.poll()
		}
	}
}

// poll looks at the file once. What is new must be there at two polls in a row:
// it may be in the middle of being written.
func (f *FileKeys) poll() {
	text, err := readFile(f.Path)
	if err != nil {
		if f.trouble != err.Error() {
			f.trouble = err.Error()
			f.logger.Error("keys file cannot be read; the keys that were known before stay", zap.Error(err))
		}
		return
	}
	f.trouble = ""
	digest := sha256.Sum256(text)
	settled := digest == f.last
	f.last = digest
	if !settled || digest == f.decided {
		return
	}
	f.decided = digest
	if err := f.accept(text); err != nil {
		f.logger.Error("keys file is wrong; the keys that were known before stay", zap.Error(err))
	}
}

func (f *FileKeys) accept(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return errEmpty
	}
	keys, err := f.parse(text)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, check := range f.checks {
		if err := check(keys.all()); err != nil {
			return f.place(err, keys)
		}
	}
	f.keys.Store(keys)
	f.logger.Info("keys file has changed", zap.String("path", f.Path), zap.Int("keys", len(keys.byDigest)))
	return nil
}

// place adds to what is wrong with a key where it stands.
func (f *FileKeys) place(err error, keys *set) error {
	var wrong *aigateway.KeyError
	if errors.As(err, &wrong) && keys.names[wrong.ID] > 0 {
		return fmt.Errorf("%w, at %s:%d", err, f.Path, keys.names[wrong.ID])
	}
	return err
}

// errEmpty is that of a file in which nothing stands any more: what a full disk
// or a slip of the shell leaves behind, and seldom what somebody wants.
var errEmpty = errors.New("the file has become empty; to revoke all of its keys, leave a comment in it")

// parse reads the keys of a text. Its errors name file and line.
func (f *FileKeys) parse(text []byte) (*set, error) {
	tokens, err := caddyfile.Tokenize(text, f.Path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path, err)
	}
	keys := newSet(f.logger)
	for d := caddyfile.NewDispenser(tokens); d.Next(); {
		line := *d // errors about the key as a whole name its first line
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

// errNoKey does not repeat what stands there: it may be a key.
var errNoKey = errors.New("in a file of keys, each begins with the word key: key <name> sha256:<digest>")

// Lookup returns the key with this digest, nil when there is none.
func (f *FileKeys) Lookup(digest aigateway.Digest) *aigateway.Key {
	return f.keys.Load().lookup(digest)
}

// All are the keys.
func (f *FileKeys) All() iter.Seq[*aigateway.Key] { return f.keys.Load().all() }

// CheckChanges has keys of a changed file checked before they take effect.
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
