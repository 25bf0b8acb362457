package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"
)

func init() { caddy.RegisterModule(new(logWriter)) }

// Logs contains the log entries of Caddy from DEBUG up, one JSON object per line. It is
// safe for concurrent use.
type Logs struct {
	mu      sync.Mutex // guards the fields below
	buffer  bytes.Buffer
	entries []map[string]any // the lines that are objects, up to decoded
	decoded int              // number of bytes
	changed chan struct{}    // closed and replaced with every line
}

// logs contains the log of the Caddy that started last in this process. running guards it.
var logs *Logs

func newLogs() *Logs { return &Logs{changed: make(chan struct{})} }

// Write adds log lines.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.buffer.Write(p)
}

// Close does nothing, because the next configuration continues the log.
func (l *Logs) Close() error { return nil }

// Bytes returns a copy of the log so far.
func (l *Logs) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.buffer.Bytes())
}

// String returns the log so far.
func (l *Logs) String() string { return string(l.Bytes()) }

// Entries returns the log lines as objects, which must not be changed.
func (l *Logs) Entries() []map[string]any {
	entries, _ := l.read()
	return entries
}

// read returns the entries so far, and the channel that is closed at the next line. Each
// line is decoded once: tests wait for a thousand entries of one log.
func (l *Logs) read() ([]map[string]any, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.buffer.Bytes()[l.decoded:]) {
		var entry map[string]any
		if json.Unmarshal(line, &entry) == nil {
			l.entries = append(l.entries, entry)
		}
	}
	l.decoded = l.buffer.Len()
	return slices.Clip(l.entries), l.changed
}

// Wait waits until the log contains the text.
func (l *Logs) Wait(ctx context.Context, text string) error {
	for {
		l.mu.Lock()
		found, changed := bytes.Contains(l.buffer.Bytes(), []byte(text)), l.changed
		l.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %q in the log: %w", text, context.Cause(ctx))
		}
	}
}

// WaitEntry waits until the log contains an entry for which fits returns true, and returns
// the first one, which must not be changed.
func (l *Logs) WaitEntry(ctx context.Context, fits func(map[string]any) bool) (map[string]any, error) {
	for examined := 0; ; {
		entries, changed := l.read()
		if i := slices.IndexFunc(entries[examined:], fits); i >= 0 {
			return entries[examined+i], nil
		}
		examined = len(entries)
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a log entry: %w", context.Cause(ctx))
		}
	}
}

// logWriter is the Caddy module that writes into the log of the Caddy whose configuration
// it is a part of. Requests that outlive this Caddy log there, too.
type logWriter struct{ logs *Logs }

// CaddyModule returns the Caddy module information.
func (*logWriter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "caddy.logging.writers.gatewaytest",
		New: func() caddy.Module { return &logWriter{logs} },
	}
}

// String returns the name of the writer.
func (*logWriter) String() string { return "gatewaytest" }

// WriterKey returns the same key for all writers of one Caddy, because it has one log.
func (w *logWriter) WriterKey() string { return fmt.Sprintf("gatewaytest %p", w.logs) }

// OpenWriter opens the log.
func (w *logWriter) OpenWriter() (io.WriteCloser, error) { return w.logs, nil }

var _ caddy.WriterOpener = (*logWriter)(nil)
