package transport

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// redactor removes from the texts of a provider what clients and the log must not contain:
// the credentials of the provider, its own ids of stored objects that clients have in another form,
// and from messages the host of the provider, too.
type redactor struct {
	credential string // of the call, which may have been replaced since
	host       string
	current    []atomic.Pointer[aigateway.Secret] // all credentials of the provider
	signed     []string                           // what a signed request has of a secret
	objects    *exchange.Objects                  // that the request names; nil for none
}

// secrets returns the credentials and the ids.
func (r *redactor) secrets() []string {
	all := append([]string{r.credential}, r.signed...)
	all = append(all, r.objects.ProviderIDs()...)
	for i := range r.current {
		all = append(all, string(*r.current[i].Load()))
	}
	return all
}

// leaks reports whether a text repeats a credential, that of the call, or another one of the
// provider, which knows all of them; or an id.
func (r *redactor) leaks(text string) bool {
	if fault.Leaks(text, r.credential) {
		return true
	}
	for _, secret := range r.signed {
		if fault.Leaks(text, secret) {
			return true
		}
	}
	for _, id := range r.objects.ProviderIDs() {
		if fault.Leaks(text, id) {
			return true
		}
	}
	for i := range r.current {
		if secret := string(*r.current[i].Load()); secret != r.credential && fault.Leaks(text, secret) {
			return true
		}
	}
	return false
}

// text returns a text of the provider, or "" if it repeats a credential. It is applied to
// every text for a header or the log.
func (r *redactor) text(text string) string {
	if r.leaks(text) {
		return ""
	}
	return text
}

// isPrivate reports whether clients may not read an error of the provider as it is.
func (r *redactor) isPrivate(text []byte) bool {
	return r.leaks(string(text)) || !bytes.Equal(fault.Mask(text, r.host), text)
}

// fault redacts a fault whose message may quote the provider.
func (r *redactor) fault(f *fault.Fault) { f.Redact(append(r.secrets(), r.host)...) }

// typed adds the content type of an answer to the cause of its fault.
func (r *redactor) typed(res *http.Response, f *fault.Fault) *fault.Fault {
	if f.Cause != nil {
		f.Cause = fmt.Errorf("content type %q: %w", r.contentType(res), f.Cause)
	}
	return f
}

// losses returns the losses of an answer without those whose name repeats the credential:
// the provider chooses the names of unknown members.
func (r *redactor) losses(losses translate.Losses) translate.Losses {
	return slices.DeleteFunc(slices.Clone(losses), func(loss translate.Loss) bool {
		return loss.Foreign && r.text(loss.Path) == ""
	})
}

// header returns the value of a header of the provider, or "" if the value repeats the
// credential or is long: some clients accept at most 16 KiB of headers.
func (r *redactor) header(value string) string {
	if len(value) > maxHeaderValue {
		return ""
	}
	return r.text(value)
}

// contentType returns the content type of an answer. It leaves out the parameters if they
// repeat the credential or are long.
func (r *redactor) contentType(res *http.Response) string {
	value := res.Header.Get("Content-Type")
	media, _, _ := strings.Cut(value, ";")
	return cmp.Or(r.header(value), r.header(media))
}

// The bounds of relayed headers.
const (
	maxHeaderValue = 256 // bytes
	maxRateLimits  = 32  // headers; more than the largest documented family has
)

// retryNames are the headers that decide when clients try again, or ask for a stored object again.
var retryNames = [...]string{"Retry-After", "Retry-After-Ms", "X-Should-Retry", "Openai-Poll-After-Ms"}

// retryHeaders returns the headers of retryNames with valid values. Times to wait have no bound here, because
// targets rest by them: exchange.Head.ClientHeader has those for the client.
func (r *redactor) retryHeaders(headers http.Header) http.Header {
	names := slices.DeleteFunc(slices.Clone(retryNames[:]), func(name string) bool {
		v := headers[name]
		return len(v) != 1 || !validRetry(name, v[0])
	})
	return r.headers(headers, names)
}

// longestPoll is the longest time in milliseconds after which a client asks for a stored object again: one day.
const longestPoll = 24 * 60 * 60 * 1000

// validRetry reports whether a header of retryNames may have the value.
func validRetry(name, value string) bool {
	switch name {
	case "Retry-After":
		_, err := http.ParseTime(value)
		return err == nil || isWithin(value, math.MaxFloat64)
	case "Retry-After-Ms":
		return isWithin(value, math.MaxFloat64)
	case "Openai-Poll-After-Ms":
		return isWithin(value, longestPoll)
	default:
		return value == "true" || value == "false"
	}
}

// isWithin reports whether a value is a decimal number from 0 to limit.
func isWithin(value string, limit float64) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && n <= limit && strings.Trim(value, "0123456789.") == ""
}

// headers returns the named headers that have a single short value without the credential,
// nil if there are none.
func (r *redactor) headers(source http.Header, names []string) (selected http.Header) {
	for _, name := range names {
		v := source[name]
		if len(v) != 1 || r.header(v[0]) == "" {
			continue
		}
		if selected == nil {
			selected = make(http.Header, 1)
		}
		selected[name] = v
	}
	return selected
}

// rateLimits returns the provider's rate limit headers.
func (r *redactor) rateLimits(headers http.Header) http.Header {
	names := slices.Sorted(maps.Keys(headers))
	names = slices.DeleteFunc(names, func(name string) bool { return !isRateLimit(name) })
	return r.headers(headers, names[:min(len(names), maxRateLimits)])
}

// isRateLimit reports whether a header belongs to one of the two known families.
func isRateLimit(name string) bool {
	return strings.HasPrefix(name, "Anthropic-Ratelimit-") || strings.HasPrefix(name, "X-Ratelimit-")
}

// requestID returns the id of the call at the provider, "" if the provider sent none.
func (r *redactor) requestID(headers http.Header) string {
	for _, name := range [...]string{"Request-Id", "X-Request-Id"} {
		if id := r.header(headers.Get(name)); id != "" {
			return id
		}
	}
	return ""
}
