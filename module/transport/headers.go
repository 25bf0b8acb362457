package transport

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of what is handed on of a provider's headers.
const (
	maxHeaderValue = 256 // bytes
	maxRateLimits  = 32  // headers; the largest family that is documented has fewer
)

// retryHeaders tell a client when to come again.
var retryHeaders = [...]string{"Retry-After", "Retry-After-Ms", "X-Should-Retry"}

const day = 24 * 60 * 60 // in seconds

// keepRetry keeps the headers that tell a client when to come again. Clients
// wait for as long as these say, so none says more than a day.
func (c *call) keepRetry(from http.Header) {
	said := make(http.Header, len(retryHeaders))
	for _, name := range retryHeaders {
		if v := from[name]; len(v) == 1 && tellsRetry(name, v[0]) {
			said[name] = v
		}
	}
	c.keepHeaders(said, retryHeaders[:])
}

// tellsRetry reports whether a value is one that the header may have.
func tellsRetry(name, value string) bool {
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

// within reports whether a value is a number from 0 to most, in digits.
func within(value string, most float64) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && n <= most && strings.Trim(value, "0123456789.") == ""
}

// keepHeaders keeps those of the provider's headers that the client gets: of
// one value that is short and does not repeat the credential.
func (c *call) keepHeaders(from http.Header, names []string) {
	for _, name := range names {
		v := from[name]
		if len(v) != 1 || c.presentableHeader(v[0]) == "" {
			continue
		}
		if c.result.Header == nil {
			c.result.Header = make(http.Header, 1)
		}
		c.result.Header[name] = v
	}
}

// keepRateLimits keeps the provider's rate limit headers where the operator
// wants clients to see them: they describe the operator's account, and mean
// something only to clients of the provider's own format.
func (c *call) keepRateLimits(from http.Header) {
	if !c.traits().ForwardRateLimitHeaders || !c.attempt.ByteLane() {
		return
	}
	names := slices.Sorted(maps.Keys(from))
	names = slices.DeleteFunc(names, func(name string) bool { return !isRateLimit(name) })
	c.keepHeaders(from, names[:min(len(names), maxRateLimits)])
}

// isRateLimit reports whether a header belongs to one of the two families.
func isRateLimit(name string) bool {
	return strings.HasPrefix(name, "Anthropic-Ratelimit-") || strings.HasPrefix(name, "X-Ratelimit-")
}
