package openai

import (
	"cmp"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
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
func resetTime(_ time.Time, wait time.Duration) string {
	return (wait + time.Second - 1).Truncate(time.Second).String()
}

// Provider returns the description of providers whose endpoint has a path below the
// path of the version.
func Provider(endpoint string) format.Provider {
	return format.Provider{
		Delivery: []string{"stream", "stream_options"},
		Call: func(c format.Call) (path, query string) {
			if c.Object != "" {
				return versioned(c.Base) + c.Object, ""
			}
			return versioned(c.Base) + endpoint, ""
		},
		Models: func(base, _ string) (path, query string) { return versioned(base) + "/models", "" },
	}
}

// versioned returns the path of a base URL up to the version. SDKs of the formats
// expect a base URL that ends in the version.
func versioned(base string) string { return cmp.Or(base, "/v1") }

// Models writes lists of models.
var Models = format.Models{Append: appendModel, AppendList: appendModels}

// appendModel appends one model. The format has no members for the display name and
// the sizes; the members written here are those of services that extend it.
func appendModel(dst []byte, m modelcard.Card) []byte {
	dst = jsonscan.AppendString(append(dst, `{"id":`...), m.ID)
	dst = jsonscan.AppendCount(dst, `,"object":"model","created":`, m.Created)
	dst = jsonscan.AppendString(append(dst, `,"owned_by":`...), cmp.Or(m.OwnedBy, "gateway"))
	if m.DisplayName != "" {
		dst = jsonscan.AppendString(append(dst, `,"name":`...), m.DisplayName)
	}
	dst = modelcard.AppendSize(dst, `,"context_length":`, m.ContextTokens)
	dst = modelcard.AppendSize(dst, `,"max_completion_tokens":`, m.OutputTokens)
	if m.Shutdown != "" {
		dst = jsonscan.AppendString(append(dst, `,"shutdown_date":`...), m.Shutdown)
	}
	if m.Media != nil { // as routers of several vendors state it
		dst = append(modelcard.AppendTexts(dst, `,"architecture":{"input_modalities":`, modalities(m.Media)...), '}')
	}
	return append(dst, '}')
}

// modalities returns the words for texts and other media.
func modalities(media []string) []string {
	words := []string{"text"}
	for _, m := range media {
		if m == "pdf" {
			m = "file"
		}
		words = append(words, m)
	}
	return words
}

// appendModels appends the list. The format has no pagination.
func appendModels(dst []byte, models []modelcard.Card, _ bool) []byte {
	dst = append(dst, `{"object":"list","data":[`...)
	for i := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendModel(dst, models[i])
	}
	return append(dst, "]}"...)
}
