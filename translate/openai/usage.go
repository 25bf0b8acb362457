package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// usageRows describes the usage objects of chat and completions answers, in the words of
// several vendors.
var usageRows = token.NewRows(
	token.Row{Path: "prompt_tokens", Is: token.Prompt},
	token.Row{Path: "completion_tokens", Is: token.Output},
	token.Row{Path: "total_tokens", Is: token.Total},
	token.Row{Path: "prompt_tokens_details.cached_tokens", Is: token.CacheRead},
	token.Row{Path: "prompt_cache_hit_tokens", Is: token.CacheRead}, // DeepSeek
	token.Row{Path: "cache_read_input_tokens", Is: token.CacheRead},
	token.Row{Path: "prompt_tokens_details.cache_write_tokens", Is: token.CacheWrite},
	token.Row{Path: "cache_creation_input_tokens", Is: token.CacheWrite},
	token.Row{Path: "completion_tokens_details.reasoning_tokens", Is: token.Reasoning},
)

// CutUsage appends the edit that removes the usage from a valid chunk.
func CutUsage(edits []edit.Edit, chunk []byte) []edit.Edit {
	start, end := jsonscan.CutMember(chunk, "usage")
	return append(edits, edit.Edit{Span: translate.Span{Start: start, End: end}})
}
