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
	// pollInterval is the time between two readings of the file. Reading it is
	// cheap, and finds changes of every kind: in place, by a rename, and by the
	// symbolic links of a mounted volume.
	pollInterval = time.Second
	maxFileSize  = 16 << 20
)

// errRelative is the error for a relative path, whose file would depend on the
// directory in which Caddy is started.
var errRelative = errors.New("the path must be absolute")

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

	mu     sync.Mutex // guards checks
	checks []func(iter.Seq[*aigateway.Key]) error

	// The state of the goroutine that follows the file.
	last    aigateway.Digest // of the text that was read last
	decided aigateway.Digest // of the text that was accepted or refused last
	failure string           // why the file could not be read last, "" if it could
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

// poll reads the file once. A new text is used when two polls have read it: a text
// that was read once may still be incomplete.
func (f *FileKeys) poll() {
	text, err := readFile(f.Path)
	if err != nil {
		if f.failure != err.Error() {
			f.failure = err.Error()
			f.logger.Error("keys file cannot be read; its previous keys stay valid", zap.Error(err))
		}
		return
	}
	f.failure = ""
	digest := sha256.Sum256(text)
	settled := digest == f.last
	f.last = digest
	if !settled || digest == f.decided {
		return
	}
	f.decided = digest
	if err := f.accept(text); err != nil {
		f.logger.Error("keys file is invalid; its previous keys stay valid", zap.Error(err))
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
			return f.withLine(err, keys)
		}
	}
	f.keys.Store(keys)
	f.logger.Info("keys file has changed", zap.String("path", f.Path), zap.Int("keys", len(keys.byDigest)))
	return nil
}

// withLine adds the line of the key to an error about one key.
func (f *FileKeys) withLine(err error, keys *set) error {
	var about *aigateway.KeyError
	if errors.As(err, &about) && keys.lines[about.ID] > 0 {
		return fmt.Errorf("%w, at %s:%d", err, f.Path, keys.lines[about.ID])
	}
	return err
}

// errEmpty is the error for a file that has become empty, which is more often the
// effect of a full disk or of a mistyped command than intended.
var errEmpty = errors.New("the file has become empty; to revoke all of its keys, leave a comment in it")

// parse returns the keys of a text. Its errors contain the file and the line.
func (f *FileKeys) parse(text []byte) (*set, error) {
	tokens, err := caddyfile.Tokenize(text, f.Path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path, err)
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
