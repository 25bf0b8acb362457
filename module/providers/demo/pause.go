package demo

import (
	"context"
	"net/http"
	"time"
)

// abort breaks the answer off the way net/http handlers do.
func (x *exchange) abort() { panic(http.ErrAbortHandler) }

// stall sends nothing more until the client leaves.
func (x *exchange) stall() {
	<-x.r.Context().Done()
	x.abort()
}

// pause waits, and breaks off when the client leaves.
func (x *exchange) pause(d time.Duration) {
	if d > 0 && !sleep(x.r.Context(), d) {
		x.abort()
	}
	if x.r.Context().Err() != nil {
		x.abort()
	}
}

// sleep waits for d and reports whether ctx lived that long.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
