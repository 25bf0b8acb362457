package transport

import (
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

// presentableType is presentable for a content type: without its parameters it
// still says what the body is.
func (c *call) presentableType(value string) string {
	media, _, _ := strings.Cut(value, ";")
	if c.presentable(value) == "" {
		value = media
	}
	return c.presentable(value)
}

// presentableLosses are those of an answer that may be logged: the provider
// names its members as it likes, after the credential too.
func (c *call) presentableLosses(losses translate.Losses) translate.Losses {
	return slices.DeleteFunc(slices.Clone(losses), func(loss translate.Loss) bool {
		return loss.Foreign && c.presentable(loss.Path) == ""
	})
}
