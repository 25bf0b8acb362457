package transport

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of relayed headers.
const (
	maxHeaderValue = 256 // bytes
	maxRateLimits  = 32  // headers; more than the largest documented family has
)

// retryNames are the headers that decide when clients try again.
var retryNames = [...]string{"Retry-After", "Retry-After-Ms", "X-Should-Retry"}

const day = 24 * 60 * 60 // in seconds

// retryHeaders returns the headers of retryNames with valid values. Clients wait as long as
// these headers ask, so times of more than a day are dropped.
func (c *call) retryHeaders(from http.Header) http.Header {
	names := slices.DeleteFunc(slices.Clone(retryNames[:]), func(name string) bool {
		v := from[name]
		return len(v) != 1 || !validRetry(name, v[0])
	})
	return c.selectHeaders(from, names)
}

// validRetry reports whether a header of retryNames may have the value.
func validRetry(name, value string) bool {
	switch name {
	case "Retry-After":
		date, err := http.ParseTime(value)
		return err == nil && time.Until(date) <= day*time.Second || within(value, day)
	case "Retry-After-Ms":
		return within(value, day*1000)
	default:
		return value == "true" || value == "false"
	}
}

// within reports whether a value is a decimal number from 0 to most.
func within(value string, most float64) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && n <= most && strings.Trim(value, "0123456789.") == ""
}

// selectHeaders returns the named headers that have a single short value without the
// credential, nil if there are none.
func (c *call) selectHeaders(from http.Header, names []string) (selected http.Header) {
	for _, name := range names {
		v := from[name]
		if len(v) != 1 || c.redactHeader(v[0]) == "" {
			continue
		}
		if selected == nil {
			selected = make(http.Header, 1)
		}
		selected[name] = v
	}
	return selected
}

// rateLimits returns the provider's rate limit headers if a trait allows it: they describe
// the operator's account. It returns none for a client of another format, which does not
// understand them.
func (c *call) rateLimits(from http.Header) http.Header {
	if !c.attempt.Traits.ForwardRateLimitHeaders || !c.attempt.ByteLane() {
		return nil
	}
	names := slices.Sorted(maps.Keys(from))
	names = slices.DeleteFunc(names, func(name string) bool { return !isRateLimit(name) })
	return c.selectHeaders(from, names[:min(len(names), maxRateLimits)])
}

// isRateLimit reports whether a header belongs to one of the two known families.
func isRateLimit(name string) bool {
	return strings.HasPrefix(name, "Anthropic-Ratelimit-") || strings.HasPrefix(name, "X-Ratelimit-")
}

// requestID returns the id of the call at the provider, "" if the provider sent none.
func (c *call) requestID(from http.Header) string {
	for _, name := range [...]string{"Request-Id", "X-Request-Id"} {
		if id := c.redactHeader(from.Get(name)); id != "" {
			return id
		}
	}
	return ""
}
