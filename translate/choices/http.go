package choices

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Headers are the headers of clients that go to providers: some of those have
// models of a vendor that reads its own.
var Headers = []string{"Anthropic-Version", "Anthropic-Beta"}

// Quotas are the headers that tell a client what is left of its limits.
var Quotas = format.Quotas{Requests: quotaHeaders("Requests"), Tokens: quotaHeaders("Tokens"), Reset: resetTime}

// quotaHeaders returns the headers of the limit that counts requests or tokens
// (wire format E.5).
func quotaHeaders(counted string) format.QuotaHeaders {
	return format.QuotaHeaders{
		Limit:     "X-Ratelimit-Limit-" + counted,
		Remaining: "X-Ratelimit-Remaining-" + counted,
		Reset:     "X-Ratelimit-Reset-" + counted,
	}
}

// resetTime writes a duration, rounded up to seconds.
func resetTime(_ time.Time, in time.Duration) string {
	return (in + time.Second - 1).Truncate(time.Second).String()
}

// Provider returns how providers are called whose endpoint has a path below that
// of the version.
func Provider(endpoint string) format.Provider {
	return format.Provider{
		Call:   func(c format.Call) (path, query string) { return versioned(c.Base) + endpoint, "" },
		Models: func(base, _ string) (path, query string) { return versioned(base) + "/models", "" },
	}
}

// versioned returns the path of a base URL up to the version. SDKs of the formats
// take a base URL that ends in the version.
func versioned(base string) string {
	if base == "" {
		return "/v1"
	}
	return base
}
