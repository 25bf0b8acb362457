package gatewaytest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Request is one request as the provider received it.
type Request struct {
	Number  int // number of the request in the order of arrival, from 1
	Method  string
	Path    string
	Query   string // without "?"
	Host    string
	Header  http.Header
	Body    []byte
	SHA256  string // of Body, hexadecimal
	ReadErr error  // error of reading Body; nil if Body is complete
}

// state is a request with the state of its answer.
type state struct {
	Request
	cancelled bool // the caller left before the answer was complete
	settled   bool // the answer has ended, completely or not
}

// Ledger records requests. It is safe for concurrent use.
type Ledger struct {
	mu      sync.Mutex // guards the fields below
	entries []*state
	changed chan struct{} // closed and replaced with every change
}

func newLedger() *Ledger { return &Ledger{changed: make(chan struct{})} }

// Requests returns the requests so far, in the order of arrival.
func (l *Ledger) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Request, len(l.entries))
	for i, e := range l.entries {
		list[i] = e.Request
	}
	return list
}

// LastJSON returns the body of the last request, which must be a JSON object.
func (l *Ledger) LastJSON(t testing.TB) map[string]any {
	t.Helper()
	requests := l.Requests()
	require.NotEmpty(t, requests)
	var body map[string]any
	require.NoError(t, json.Unmarshal(requests[len(requests)-1].Body, &body))
	return body
}

// Count returns the number of requests so far.
func (l *Ledger) Count() int { return l.count(func(*state) bool { return true }) }

// Cancelled returns the number of requests whose caller left before the answer was
// complete.
func (l *Ledger) Cancelled() int { return l.count(func(e *state) bool { return e.cancelled }) }

// WaitRequests waits until n requests have arrived, since the start.
func (l *Ledger) WaitRequests(ctx context.Context, n int) error {
	return l.wait(ctx, fmt.Sprintf("%d requests", n), func() bool { return len(l.entries) >= n })
}

// WaitCancelled waits until a caller has left before its answer was complete.
func (l *Ledger) WaitCancelled(ctx context.Context) error { return l.WaitCancelledN(ctx, 1) }

// WaitCancelledN waits until n callers have left, since the start.
func (l *Ledger) WaitCancelledN(ctx context.Context, n int) error {
	return l.wait(ctx, fmt.Sprintf("%d cancelled requests", n), func() bool {
		return countIn(l.entries, func(e *state) bool { return e.cancelled }) >= n
	})
}

// WaitSettled waits until no request is being answered.
func (l *Ledger) WaitSettled(ctx context.Context) error {
	return l.wait(ctx, "no running request", func() bool {
		return countIn(l.entries, func(e *state) bool { return !e.settled }) == 0
	})
}

func (l *Ledger) count(which func(*state) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return countIn(l.entries, which)
}

func countIn(entries []*state, which func(*state) bool) (n int) {
	for _, e := range entries {
		if which(e) {
			n++
		}
	}
	return n
}

// wait checks the condition, which runs with the lock held, after each change.
func (l *Ledger) wait(ctx context.Context, what string, holds func() bool) error {
	for {
		l.mu.Lock()
		ok, changed := holds(), l.changed
		l.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}

// receive reads the body of a request, records the request, and replaces its body by a
// copy that can be read again.
func (l *Ledger) receive(r *http.Request) *state {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	e := &state{Request: Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Host: r.Host,
		Header: r.Header.Clone(), Body: body, SHA256: SHA256(body), ReadErr: err,
	}}
	l.update(func() {
		l.entries = append(l.entries, e)
		e.Number = len(l.entries)
	})
	return e
}

// SHA256 returns the digest of a body in the form of Request.SHA256.
func SHA256(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// settle records the end of an answer.
func (l *Ledger) settle(e *state, r *http.Request, completed bool) {
	l.update(func() {
		e.settled = true
		e.cancelled = !completed && r.Context().Err() != nil
	})
}

func (l *Ledger) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Paths returns the distinct paths of the requests, sorted.
func (l *Ledger) Paths() []string {
	var list []string
	for _, r := range l.Requests() {
		list = append(list, r.Path)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
