// Package watch finds the calls of providers that are silent for too long. The time in which
// the client does not read does not count.
package watch

import (
	"sync"
	"time"
)

// Phase is a phase of a call, with the longest time without a sign of life, and the cause
// with which the call is cancelled after it.
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

// Headers returns the phase of the wait for the headers of the answer.
func Headers(limit time.Duration) Phase { return Phase{limit, errHeaders} }

// FirstEvent returns the phase of the wait for the first event of a stream.
func FirstEvent(limit time.Duration) Phase { return Phase{limit, errFirstEvent} }

// Rest returns the phase of the wait for the rest of the answer.
func Rest(limit time.Duration) Phase { return Phase{limit, errIdle} }

// Drain returns the phase of the wait for the end of a stream whose content is complete.
func Drain(limit time.Duration) Phase { return Phase{limit, errDrain} }

// timeoutError is the cause with which a call is cancelled. It does not wrap
// context.Canceled, which reverse_proxy takes for a client that has disconnected.
type timeoutError struct{ phase string }

func (e *timeoutError) Error() string   { return "timed out waiting for " + e.phase }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// Watch is the only timer of a call. The timer is reset only when it fires or a phase
// begins, so that a sign of life costs only a reading of the clock. A Watch pauses while
// nothing is read from the provider, so that the time of a slow client does not count as
// silence.
type Watch struct {
	mu    sync.Mutex // guards the fields below, because the timer fires in its own goroutine
	timer *time.Timer
	phase Phase
	alive time.Time // the last sign of life
	held  time.Time // the beginning of the pause; zero while the watch runs
	idle  bool      // the timer has fired during the pause
	ended bool
}

// Start begins the first phase. The timer calls fire, which calls Over.
func (w *Watch) Start(p Phase, fire func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase, w.alive = p, time.Now()
	w.timer = time.AfterFunc(p.limit, fire)
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

// Touch records a sign of life. It returns the time since the last one, without pauses.
func (w *Watch) Touch() (silence time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.alive
	w.restart()
	return w.alive.Sub(old)
}

// restart restarts the limit of the phase: now, or at the beginning of a pause, whose time
// does not count.
func (w *Watch) restart() {
	if w.alive = w.held; w.held.IsZero() {
		w.alive = time.Now()
	}
}

// Hold pauses the watch until Resume.
func (w *Watch) Hold() {
	w.mu.Lock()
	if w.held.IsZero() {
		w.held = time.Now()
	}
	w.mu.Unlock()
}

// Resume continues the phase with the remaining time.
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

// Stop ends the watch.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// Over reports whether the phase is over, by the cause with which the call must be cancelled;
// nil before, and after Stop. It returns a cause once.
func (w *Watch) Over() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch left := w.phase.limit - time.Since(w.alive); {
	case w.ended:
	case !w.held.IsZero():
		w.idle = true
	case left > 0:
		w.timer.Reset(left)
	default:
		w.ended = true
		return w.phase.err
	}
	return nil
}
