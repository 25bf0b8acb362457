package openai

import (
	"cmp"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Quotas lists the response headers with the remaining quota of a client.
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

// resetTime returns a duration as text, rounded up to seconds.
func resetTime(_ time.Time, in time.Duration) string {
	return (in + time.Second - 1).Truncate(time.Second).String()
}

// Provider returns the description of providers whose endpoint has a path below the
// path of the version.
func Provider(endpoint string) format.Provider {
	return format.Provider{
		Call:   func(c format.Call) (path, query string) { return versioned(c.Base) + endpoint, "" },
		Models: func(base, _ string) (path, query string) { return versioned(base) + "/models", "" },
	}
}

// versioned returns the path of a base URL up to the version. SDKs of the formats
// expect a base URL that ends in the version.
func versioned(base string) string { return cmp.Or(base, "/v1") }
