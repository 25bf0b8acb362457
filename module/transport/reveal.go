package transport

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// revealing reports whether a body repeats the credential of the call.
func (c *call) revealing(body []byte) bool {
	return c.t.secret != "" && translate.Reveals(string(body), c.t.credential())
}

// presentable returns a text of the provider, or "" where it repeats the
// credential. What goes to a header or to the log passes through here.
func (c *call) presentable(text string) string {
	if translate.Reveals(text, c.t.credential()) {
		return ""
	}
	return text
}

// presentableHeader returns the value of a header of the provider, or "" if it
// repeats the credential or is long: some clients take 16 KiB of headers and no
// more.
func (c *call) presentableHeader(value string) string {
	if len(value) > maxHeaderValue {
		return ""
	}
	return c.presentable(value)
}

// presentableType is presentableHeader for the content type: without its
// parameters it still says what the body is.
func (c *call) presentableType(res *http.Response) string {
	value := res.Header.Get("Content-Type")
	media, _, _ := strings.Cut(value, ";")
	return cmp.Or(c.presentableHeader(value), c.presentableHeader(media))
}

// presentableLosses are those of an answer that may be logged: the provider
// names its members as it likes, after the credential too.
func (c *call) presentableLosses(losses translate.Losses) translate.Losses {
	return slices.DeleteFunc(slices.Clone(losses), func(loss translate.Loss) bool {
		return loss.Foreign && c.presentable(loss.Path) == ""
	})
}
