// Package filewatch reads a file of the configuration, and applies its changes without
// a reload.
//
// It promises that a change takes effect within about two seconds. While the file
// cannot be read, or its text is invalid, the last valid text stays in effect, and one
// log entry contains the reason. Another entry shows that the file can be read again. It
// refuses relative paths, and files larger than 16 MiB.
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
	errEmpty = errors.New("the file has become empty")
)

// CheckPath returns an error for a relative path. It accepts every path that contains
// placeholders, because their values are unknown.
func CheckPath(path string) error {
	if !strings.Contains(path, "{") && !filepath.IsAbs(path) {
		return errRelative
	}
	return nil
}

// File is a file whose changes are applied.
type File struct {
	Path   string // absolute; may contain placeholders such as {env.*} until Start
	Name   string // the file in log messages, such as "keys file"
	Parts  string // the content of the file in log messages, such as "keys"
	Logger *zap.Logger

	// Accept applies a text, or returns an error if the text is invalid. The first
	// text may be empty. Calls do not overlap.
	Accept func(text []byte) error

	read    [sha256.Size]byte // digest of the text that was read last
	decided [sha256.Size]byte // digest of the text that was accepted or refused last
	failure string            // error of the last reading; empty if it succeeded
}

// Start reads the file, and then applies its changes until the context ends. It returns
// an error if the file cannot be read or its text is invalid.
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
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer, for ever
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
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

// Poll reads the file once. After Start, it runs at each Interval. A new text takes
// effect when two successive polls have read the same text, because a text that was
// read only once may be incomplete.
func (f *File) Poll() {
	text, err := readFile(f.Path)
	if err != nil {
		if f.failure != err.Error() {
			f.failure = err.Error()
			f.Logger.Error(f.Name+" cannot be read; keeping its previous "+f.Parts, zap.Error(err))
		}
		return
	}
	if f.failure != "" {
		f.failure = ""
		f.Logger.Info(f.Name+" can be read again", zap.String("path", f.Path))
	}
	digest := sha256.Sum256(text)
	settled := digest == f.read
	f.read = digest
	if !settled || digest == f.decided {
		return
	}
	f.decided = digest
	if err := f.change(text); err != nil {
		f.Logger.Error(f.Name+" is invalid; keeping its previous "+f.Parts, zap.String("path", f.Path), zap.Error(err))
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
