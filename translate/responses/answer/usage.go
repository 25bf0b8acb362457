package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// usageRows describes the usage objects of the format.
var usageRows = token.NewRows(
	token.Row{Path: "input_tokens", Is: token.Prompt},
	token.Row{Path: "input_tokens_details.cached_tokens", Is: token.CacheRead},
	token.Row{Path: "input_tokens_details.cache_write_tokens", Is: token.CacheWrite},
	token.Row{Path: "output_tokens", Is: token.Output},
	token.Row{Path: "output_tokens_details.reasoning_tokens", Is: token.Reasoning},
)

// AppendUsage appends the usage object of an answer, with all counts and details, which
// clients require; unknown ones are 0.
func AppendUsage(dst []byte, u token.Usage) []byte {
	dst = appendCount(dst, `{"input_tokens":`, u.Input())
	dst = appendCount(dst, `,"input_tokens_details":{"cached_tokens":`, u.CacheRead)
	dst = appendCount(dst, `,"cache_write_tokens":`, u.Written())
	dst = appendCount(dst, `},"output_tokens":`, u.Output())
	dst = appendCount(dst, `,"output_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	dst = appendCount(dst, `},"total_tokens":`, u.Total())
	return append(dst, '}')
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(appendCount(dst, `{"object":"response.input_tokens","input_tokens":`, tokens), '}')
}

func appendCount(dst []byte, before string, n int64) []byte {
	return strconv.AppendInt(append(dst, before...), n, 10)
}
