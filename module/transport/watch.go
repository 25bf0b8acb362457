package transport

import (
	"context"
	"sync"
	"time"
)

// A phase of a call: how long it may go without a sign of life, and the error
// that ends the call then.
type phase struct {
	limit time.Duration
	err   *timeoutError
}

// timeoutError is the named cause with which a call is cancelled. It is never
// context.Canceled: reverse_proxy takes that for a client that went away.
type timeoutError struct{ phase string }

func (e *timeoutError) Error() string   { return "timed out waiting for " + e.phase }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

var (
	errHeaders    = &timeoutError{"response headers"}
	errFirstEvent = &timeoutError{"the first event"}
	errIdle       = &timeoutError{"the rest of the answer"}
	errDrain      = &timeoutError{"the end of a finished stream"}
)

// watch is the one timer of a call. It is re-armed only when it fires, so that a sign of
// life costs no more than reading the clock. It pauses while nothing is read, so that
// the time of a slow client does not count as silence of the provider.
type watch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex // guards all below: the timer fires in a goroutine of its own
	timer *time.Timer
	phase phase
	alive time.Time // the last sign of life
	held  time.Time // when the pause began; zero while the watch runs
	idle  bool      // the timer fired during the pause
	ended bool
}

// start begins the first phase.
func (w *watch) start(cancel context.CancelCauseFunc, p phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.phase, w.alive = cancel, p, time.Now()
	w.timer = time.AfterFunc(p.limit, w.fire)
}

// enter begins another phase.
func (w *watch) enter(p phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = p
	w.restart()
	if !w.ended {
		w.idle = false
		w.timer.Reset(p.limit)
	}
}

// touch notes a sign of life.
func (w *watch) touch() {
	w.mu.Lock()
	w.restart()
	w.mu.Unlock()
}

// restart begins the limit of the phase anew.
func (w *watch) restart() {
	w.alive = time.Now()
	if !w.held.IsZero() {
		w.held = w.alive
	}
}

// hold pauses the watch, until resume.
func (w *watch) hold() {
	w.mu.Lock()
	if w.held.IsZero() {
		w.held = time.Now()
	}
	w.mu.Unlock()
}

// resume continues the phase with the time that was left.
func (w *watch) resume() {
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

// stop ends the watch, which does not cancel the call any more.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watch) fire() {
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
