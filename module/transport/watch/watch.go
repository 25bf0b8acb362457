// Package watch ends calls of providers that have gone silent. It waits for the provider
// alone: the time in which a client does not read does not count.
package watch

import (
	"context"
	"sync"
	"time"
)

// Phase is what a call waits for: how long it may go without a sign of life, and the
// error that ends it then.
type Phase struct {
	limit time.Duration
	err   *timeoutError
}

// The causes with which calls are cancelled, in the order of the phases.
var (
	errHeaders    = &timeoutError{"response headers"}
	errFirstEvent = &timeoutError{"the first event"}
	errIdle       = &timeoutError{"the rest of the answer"}
)

// ErrDrain is the cause with which Drain cancels a call.
var ErrDrain error = errDrain

var errDrain = &timeoutError{"the end of a finished stream"}

// Headers waits for the headers of the answer.
func Headers(limit time.Duration) Phase { return Phase{limit, errHeaders} }

// FirstEvent waits for the first event of a stream.
func FirstEvent(limit time.Duration) Phase { return Phase{limit, errFirstEvent} }

// Rest waits for the rest of the answer.
func Rest(limit time.Duration) Phase { return Phase{limit, errIdle} }

// Drain waits for the end of a stream whose content is complete.
func Drain(limit time.Duration) Phase { return Phase{limit, errDrain} }

// timeoutError is the named cause with which a call is cancelled. It is never
// context.Canceled: reverse_proxy takes that for a client that went away.
type timeoutError struct{ phase string }

func (e *timeoutError) Error() string   { return "timed out waiting for " + e.phase }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// Watch is the one timer of a call. It is re-armed only when it fires, so that a sign of
// life costs no more than reading the clock. It pauses while nothing is read, so that
// the time of a slow client does not count as silence of the provider.
type Watch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex // guards all below: the timer fires in a goroutine of its own
	timer *time.Timer
	phase Phase
	alive time.Time // the last sign of life
	held  time.Time // when the pause began; zero while the watch runs
	idle  bool      // the timer fired during the pause
	ended bool
}

// Start begins the first phase.
func (w *Watch) Start(cancel context.CancelCauseFunc, p Phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.phase, w.alive = cancel, p, time.Now()
	w.timer = time.AfterFunc(p.limit, w.fire)
}

// Enter begins another phase.
func (w *Watch) Enter(p Phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = p
	w.restart()
	if !w.ended {
		w.idle = false
		w.timer.Reset(p.limit)
	}
}

// Touch notes a sign of life, and returns how long there was none. Pauses do not count.
func (w *Watch) Touch() (silence time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, held := w.alive, w.held
	w.restart()
	if held.IsZero() {
		held = w.alive
	}
	return held.Sub(before)
}

// restart begins the limit of the phase anew.
func (w *Watch) restart() {
	w.alive = time.Now()
	if !w.held.IsZero() {
		w.held = w.alive
	}
}

// Hold pauses the watch, until Resume.
func (w *Watch) Hold() {
	w.mu.Lock()
	if w.held.IsZero() {
		w.held = time.Now()
	}
	w.mu.Unlock()
}

// Resume continues the phase with the time that was left.
func (w *Watch) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held.IsZero() {
		return
	}
	w.alive = w.alive.Add(time.Since(w.held))
	w.held = time.Time{}
	if w.idle && !w.ended {
		w.idle = false
		w.timer.Reset(w.phase.limit - time.Since(w.alive))
	}
}

// Stop ends the watch, which does not cancel the call any more.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *Watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if w.idle = !w.held.IsZero(); w.idle {
		return
	}
	if left := w.phase.limit - time.Since(w.alive); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.ended = true
	w.cancel(w.phase.err)
}
