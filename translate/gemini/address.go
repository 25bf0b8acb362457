package gemini

import (
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
)

// Provider is how providers of the format are called. A call has one answer.
var Provider = format.Provider{Call: callAddress, ModelInPath: true, Models: modelsAddress, OneAnswer: true, Sign: answer.Sign}

// version is the version of the API that base URLs without a path have.
const version = "/v1beta"

// alpha is the version of what the vendor tries out, and versions are all that mean the same to clients.
const alpha = "/v1alpha"

var versions = []string{version, "/v1", alpha, "/v1beta1"}

// callAddress returns the path and the query of a call. The name of the model becomes one
// segment of the path, so that it can add neither a method nor a query. Only with alt=sse is a
// stream one of events.
func callAddress(c format.Call) (path, query string) {
	if root, object := "", c.Object; object != "" {
		if rest, uploads := strings.CutPrefix(object, format.UploadRoot+"/"); uploads {
			root, object = format.UploadRoot, "/"+rest
		}
		base := versioned(c.Base)
		last := strings.LastIndex(base, "/") // in front of the version
		return base[:last] + root + base[last:] + object, ""
	}
	collection, id := "models", strings.TrimPrefix(c.Model, "models/")
	if tuned, ok := strings.CutPrefix(c.Model, "tunedModels/"); ok {
		collection, id = "tunedModels", tuned
	}
	path = versioned(c.Base) + "/" + collection + "/" + url.PathEscape(id)
	switch {
	case c.Operation == translate.Realtime:
		return liveAddress(c.Base), ""
	case c.Operation == translate.CountTokens:
		return path + ":countTokens", ""
	case c.Operation == translate.Embed:
		return path + ":embedContent", ""
	case c.Operation == translate.EmbedMany:
		return path + ":batchEmbedContents", ""
	case c.Stream:
		return path + ":streamGenerateContent", "alt=sse"
	default:
		return path + ":generateContent", ""
	}
}

// modelsAddress returns the path and the query of the largest page of models behind a page's
// token.
func modelsAddress(base, token string) (path, query string) {
	page := url.Values{"pageSize": {"1000"}}
	if token != "" {
		page.Set("pageToken", token)
	}
	return versioned(base) + "/models", page.Encode()
}

// liveAddress returns the path of the Live API at a provider, which has it in two versions.
func liveAddress(base string) string {
	for _, v := range versions {
		if root, ok := strings.CutSuffix(base, v); ok && v == alpha {
			return root + livePath(alpha)
		} else if ok {
			return root + livePath(version)
		}
	}
	return base + livePath(version)
}

// constrained is what clients with a client secret add to the path of the Live API.
const constrained = "Constrained"

// livePath returns the path of WebSockets of the Live API, for a version with its slash.
func livePath(version string) string {
	return "/ws/google.ai.generativelanguage." + version[1:] + ".GenerativeService.BidiGenerateContent"
}

func versioned(base string) string {
	if base == "" {
		return version
	}
	return base
}
