// Package filewatch reads a file that a configuration names, and follows it while it
// changes, without a reload of the configuration.
//
// A change takes effect within about two seconds. While the file cannot be read, or its
// text is refused, what was accepted last stays in force, and the log has the reason,
// once. The package refuses relative paths, and files beyond a size.
package filewatch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// Interval is the time between two readings of a file. Reading it is cheap, and finds
// changes of every kind: in place, by a rename, and by the symbolic links of a mounted
// volume.
const Interval = time.Second

const maxSize = 16 << 20

var (
	// errRelative is the error for a relative path, whose file would depend on the
	// directory in which Caddy is started.
	errRelative = errors.New("the path must be absolute")
	// errEmpty is the error for a file that has become empty, which is more often the
	// effect of a full disk or of a mistyped command than intended.
	errEmpty = errors.New("the file has become empty; a file that is to have nothing has a comment")
)

// CheckPath returns an error for a path that is relative whatever the values of
// its placeholders.
func CheckPath(path string) error {
	if !strings.Contains(path, "{") && !filepath.IsAbs(path) {
		return errRelative
	}
	return nil
}

// File is a file that is followed.
type File struct {
	Path   string // absolute; may contain placeholders such as {env.*} until Start
	Name   string // in log messages: "keys file"
	Parts  string // what the file has, in log messages: "keys"
	Logger *zap.Logger

	// Accept takes a text into force, or returns why it is refused. The first text may
	// be empty. The calls come one after the other.
	Accept func(text []byte) error

	read    [sha256.Size]byte // digest of the text that was read last
	decided [sha256.Size]byte // digest of the text that was accepted or refused last
	failure string            // why the file could not be read last; empty if it could
}

// Start reads the file, whose text must be accepted, and follows it until the context
// ends.
func (f *File) Start(ctx context.Context) error {
	if err := f.load(); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	go f.follow(ctx)
	return nil
}

func (f *File) load() (err error) {
	if f.Path, err = caddy.NewReplacer().ReplaceOrErr(f.Path, true, true); err != nil {
		return err
	}
	if !filepath.IsAbs(f.Path) {
		return errRelative
	}
	text, err := readFile(f.Path)
	if err != nil {
		return err
	}
	f.decided = sha256.Sum256(text)
	return f.Accept(text)
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxSize)
	}
	return text, err
}

func (f *File) follow(ctx context.Context) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.Poll()
		}
	}
}

// Poll reads the file once, as Start has it read at each Interval. A new text is used
// when two polls have read it: a text that was read once may still be incomplete.
func (f *File) Poll() {
	text, err := readFile(f.Path)
	if err != nil {
		if f.failure != err.Error() {
			f.failure = err.Error()
			f.Logger.Error(f.Name+" cannot be read; its previous "+f.Parts+" stay valid", zap.Error(err))
		}
		return
	}
	f.failure = ""
	digest := sha256.Sum256(text)
	settled := digest == f.read
	f.read = digest
	if !settled || digest == f.decided {
		return
	}
	f.decided = digest
	if err := f.change(text); err != nil {
		f.Logger.Error(f.Name+" is invalid; its previous "+f.Parts+" stay valid", zap.Error(err))
		return
	}
	f.Logger.Info(f.Name+" has changed", zap.String("path", f.Path))
}

func (f *File) change(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return errEmpty
	}
	return f.Accept(text)
}
