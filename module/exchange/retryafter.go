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

// waitUnits are the headers with a time to wait, and the units of their numbers.
var waitUnits = map[string]time.Duration{"Retry-After": time.Second, "Retry-After-Ms": time.Millisecond}

// RetryAfter returns the time after which the provider allows a retry, 0 if its answer does not contain it.
func (h *Head) RetryAfter() time.Duration {
	if ms := h.wait("Retry-After-Ms"); ms > 0 {
		return ms
	}
	return h.wait("Retry-After")
}

// wait returns the time to wait that a header states, as a number or a date; 0 if it states none.
func (h *Head) wait(name string) time.Duration {
	value := h.Header.Get(name)
	if value == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return time.Duration(max(0, min(n*float64(waitUnits[name]), float64(longestStated))))
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
	for name := range waitUnits {
		if h.wait(name) > longestClientWait {
			header = maps.Clone(header)
			delete(header, name)
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
	for name := range waitUnits {
		delete(h.Header, name)
		if v := other.Header[name]; v != nil {
			h.Header[name] = v
		}
	}
}
