package token

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// MaxSearches bounds the searches of the web that an answer can report, and those that are
// expected of one.
const MaxSearches = 1 << 12

// DefaultSearches bounds the searches for an answer whose request sets no bound: about as
// many as providers make before they pause a turn.
const DefaultSearches = 10

// IsSearchTool reports whether a raw type of a tool is one of those with which providers
// search the web, such as web_search_20250305 and web_search_preview.
func IsSearchTool(kind []byte) bool {
	return bytes.HasPrefix(jsonscan.DecodedOf(kind), []byte("web_search"))
}
