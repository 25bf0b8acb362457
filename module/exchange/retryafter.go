package exchange

import (
	"maps"
	"net/http"
	"strconv"
	"time"
)

const (
	longestClientWait = 24 * time.Hour            // that a client is asked to wait, because none waits longer
	longestStated     = 10 * 365 * 24 * time.Hour // bounds the times that providers state
)

// waits are the headers with a time to wait, and the units of their numbers. The first one takes precedence.
var waits = [...]waitHeader{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}}

type waitHeader struct {
	name string
	unit time.Duration
}

// RetryAfter returns the time after which the provider allows a retry, 0 if its answer does not contain it.
func (h *Head) RetryAfter() time.Duration {
	for _, w := range waits {
		if wait := w.read(h.Header); wait > 0 {
			return wait
		}
	}
	return 0
}

// read returns the time to wait that the header states, as a number or a date; 0 if it states none.
func (w waitHeader) read(h http.Header) time.Duration {
	value := h.Get(w.name)
	if value == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return time.Duration(max(0, min(n*float64(w.unit), float64(longestStated))))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, min(time.Until(date), longestStated))
	}
	return 0
}

// ClientHeader returns the headers for the client. Clients wait as long as a header asks, so times of more than
// a day are left out; without them, clients would repeat the request at once, and are asked not to.
func (h *Head) ClientHeader() http.Header {
	header := h.Header
	for _, w := range waits {
		if w.read(h.Header) > longestClientWait {
			header = maps.Clone(header)
			delete(header, w.name)
			header["X-Should-Retry"] = []string{"false"}
		}
	}
	return header
}

// ShortenWait takes over the time to wait of another answer if both state one, and that is the shorter one.
func (h *Head) ShortenWait(other *Head) {
	if wait := other.RetryAfter(); wait == 0 || wait >= h.RetryAfter() {
		return
	}
	for _, w := range waits {
		delete(h.Header, w.name)
		if v := other.Header[w.name]; v != nil {
			h.Header[w.name] = v
		}
	}
}
