package converse

import (
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Provider is how providers of the format are called. A call has one answer.
var Provider = format.Provider{Call: callAddress, ModelInPath: true, Models: modelsAddress, OneAnswer: true}

// callAddress returns the path of a call. The name of the model becomes one segment, also that
// of an ARN, whose slashes are escaped; SDKs escape its colons, too.
func callAddress(c format.Call) (path, query string) {
	method := "/converse"
	switch {
	case c.Operation == translate.CountTokens:
		method = "/count-tokens"
	case c.Stream:
		method = "/converse-stream"
	}
	return c.Base + "/model/" + strings.ReplaceAll(url.PathEscape(c.Model), ":", "%3A") + method, ""
}

// modelsAddress returns the path of the list of models, which has one page.
func modelsAddress(base, _ string) (path, query string) { return base + "/foundation-models", "" }
