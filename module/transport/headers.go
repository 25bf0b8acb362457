package transport

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The bounds of what is handed on of a provider's headers.
const (
	maxHeaderValue = 256 // bytes
	maxRateLimits  = 32  // headers; the largest family that is documented has fewer
)

// retryHeaders tell a client when to come again.
var retryHeaders = [...]string{"Retry-After", "Retry-After-Ms", "X-Should-Retry"}

// keepHeaders keeps those of the provider's headers that the client gets: of
// one value that is short and does not repeat the credential.
func (c *call) keepHeaders(from http.Header, names []string) {
	for _, name := range names {
		v := from[name]
		if len(v) != 1 || len(v[0]) > maxHeaderValue || c.presentable(v[0]) == "" {
			continue
		}
		if c.attempt.Header == nil {
			c.attempt.Header = make(http.Header, 1)
		}
		c.attempt.Header[name] = v
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
