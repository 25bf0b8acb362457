package token

import (
	"bytes"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// MaxSearches bounds the searches of the web that an answer can report, and those that are
// expected of one.
const MaxSearches = 1 << 12

// DefaultSearches bounds the searches for an answer whose request sets no bound: about as
// many as providers make before they pause a turn.
const DefaultSearches = 10

// searchTools begin the types of the tools with which providers search the web, such as
// web_search_20250305 and web_search_preview: of most services, xAI, Groq, and Moonshot.
var searchTools = [...]string{"web_search", "x_search", "browser_search", "builtin_function"}

// IsSearchTool reports whether a raw type of a tool is one of those with which providers
// search the web.
func IsSearchTool(kind []byte) bool {
	for _, beginning := range searchTools {
		if bytes.HasPrefix(jsonscan.DecodedOf(kind), []byte(beginning)) {
			return true
		}
	}
	return false
}

// AlwaysSearches reports whether a model searches the web once for each answer, whatever the
// request asks for, by its name: gpt-4o-search-preview, gpt-5-search-api.
func AlwaysSearches(model string) bool {
	return strings.Contains(model, "-search-preview") || strings.Contains(model, "-search-api")
}
