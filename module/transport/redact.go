package transport

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// leaksCredential reports whether a body repeats the credential of the call.
func (c *call) leaksCredential(body []byte) bool {
	return fault.Leaks(string(body), c.credential)
}

// mask returns an error body of the provider without what identifies the operator's
// account or the provider's address.
func (c *call) mask(body []byte) []byte { return fault.Mask(body, c.host()) }

// isPrivate reports whether clients may not read an error of the provider as it is.
func (c *call) isPrivate(text []byte) bool {
	return c.leaksCredential(text) || !bytes.Equal(c.mask(text), text)
}

// redact returns a text of the provider, or "" if it repeats the credential. It is applied
// to every text for a header or the log.
func (c *call) redact(text string) string {
	if fault.Leaks(text, c.credential) {
		return ""
	}
	return text
}

// redactHeader returns the value of a header of the provider, or "" if the value repeats
// the credential or is long: some clients accept at most 16 KiB of headers.
func (c *call) redactHeader(value string) string {
	if len(value) > maxHeaderValue {
		return ""
	}
	return c.redact(value)
}

// redactContentType returns the content type of an answer. It leaves out the parameters if
// they repeat the credential or are long.
func (c *call) redactContentType(res *http.Response) string {
	value := res.Header.Get("Content-Type")
	media, _, _ := strings.Cut(value, ";")
	return cmp.Or(c.redactHeader(value), c.redactHeader(media))
}

// redactLosses returns the losses of an answer without those whose name repeats the
// credential: the provider chooses the names of unknown members.
func (c *call) redactLosses(losses translate.Losses) translate.Losses {
	return slices.DeleteFunc(slices.Clone(losses), func(loss translate.Loss) bool {
		return loss.Foreign && c.redact(loss.Path) == ""
	})
}

// secrets returns the texts that no message to a client may contain: the credential and the
// host of the provider.
func (c *call) secrets() []string {
	return []string{c.credential, c.host()}
}

// host returns the host of the provider.
func (c *call) host() string {
	return cmp.Or(c.proxied.URL.Hostname(), c.t.base.Hostname())
}
