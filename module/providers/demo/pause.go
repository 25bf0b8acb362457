package demo

import (
	"context"
	"net/http"
	"time"
)

// abort breaks the answer off by the panic that net/http defines for this.
func (x *exchange) abort() { panic(http.ErrAbortHandler) }

// stall sends nothing more until the client disconnects.
func (x *exchange) stall() {
	<-x.r.Context().Done()
	x.abort()
}

// pause waits for d. It breaks the answer off if the client disconnects.
func (x *exchange) pause(d time.Duration) {
	if d > 0 && !sleep(x.r.Context(), d) {
		x.abort()
	}
	if x.r.Context().Err() != nil {
		x.abort()
	}
}

// sleep waits for d, and reports whether ctx has not ended before.
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
