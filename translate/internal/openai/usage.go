package openai

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// UsageRows describes the usage objects of chat, completions and responses answers, in the words
// of several vendors: many servers have the words of one of the formats in the answers of another.
var UsageRows = token.WithStatedCosts(slices.Concat([]token.Row{
	{Path: "prompt_tokens", Is: token.Prompt},
	{Path: "input_tokens", Is: token.Prompt},
	{Path: "completion_tokens", Is: token.Output},
	{Path: "output_tokens", Is: token.Output},
	{Path: "total_tokens", Is: token.Total},
}, DetailRows, []token.Row{
	{Path: "prompt_cache_hit_tokens", Is: token.CacheRead}, // DeepSeek
	{Path: "cache_read_input_tokens", Is: token.CacheRead},
	{Path: "cached_tokens", Is: token.CacheRead},     // Moonshot, Together
	{Path: "num_cached_tokens", Is: token.CacheRead}, // Mistral
	{Path: "cache_creation_input_tokens", Is: token.CacheWrite},
	{Path: "reasoning_tokens", Is: token.Reasoning},                                    // SGLang
	{Path: "prompt_audio_seconds", Is: token.Seconds},                                  // Mistral
	{Path: "server_tool_use.web_search_requests", Is: token.Searches},                  // OpenRouter
	{Path: "server_side_tool_usage_details.web_search_calls", Is: token.Searches},      // xAI
	{Path: "server_side_tool_usage_details.x_search_calls", Is: token.FurtherSearches}, // xAI
	{Path: "web_search_requests", Is: token.Searches},                                  // hosts of other searches
	{Path: "num_search_queries", Is: token.Searches},                                   // Perplexity
	{Path: "plugins.search.count", Is: token.Searches},                                 // Model Studio
})...)

// DetailRows describes the objects in which usage objects of all endpoints divide their counts.
// Transcripts have a name of their own for that of the input.
var DetailRows = slices.Concat(
	rowsWithin("prompt_tokens_details", inputDetails), rowsWithin("input_tokens_details", inputDetails), rowsWithin("input_token_details", inputDetails),
	rowsWithin("completion_tokens_details", outputDetails), rowsWithin("output_tokens_details", outputDetails),
)

var (
	inputDetails = []token.Row{
		{Path: "cached_tokens", Is: token.CacheRead},
		{Path: "cache_write_tokens", Is: token.CacheWrite},
		{Path: "cache_creation_input_tokens", Is: token.CacheWrite}, // Alibaba
		{Path: "cache_creation_tokens", Is: token.CacheWrite},       // LiteLLM
		{Path: "image_tokens", Is: token.ImageInput},                // xAI
		{Path: "audio_tokens", Is: token.AudioInput},
		{Path: "cached_tokens_details.image_tokens", Is: token.ImageCacheRead},
		{Path: "cached_tokens_details.audio_tokens", Is: token.AudioCacheRead},
	}
	outputDetails = []token.Row{
		{Path: "image_tokens", Is: token.ImageOutput}, // OpenRouter
		{Path: "audio_tokens", Is: token.AudioOutput},
		{Path: "reasoning_tokens", Is: token.Reasoning},
	}
)

// rowsWithin returns the rows of an object inside the usage object.
func rowsWithin(object string, rows []token.Row) []token.Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Path = object + "." + rows[i].Path
	}
	return rows
}

// CutUsage appends the edit that removes the usage from a valid chunk.
func CutUsage(edits []edit.Edit, chunk []byte) []edit.Edit {
	start, end := jsonscan.CutMember(chunk, "usage")
	return append(edits, edit.Edit{Span: translate.Span{Start: start, End: end}})
}

// AppendUsage appends the usage object of a chat or completions answer. It contains all
// details that follow from the counts and the request: without media, all tokens of a
// prompt are text.
func AppendUsage(dst []byte, u token.Usage, m *translate.AnswerContext) []byte {
	prompt := u.Input()
	dst = jsonscan.AppendCount(dst, `{"prompt_tokens":`, prompt)
	dst = jsonscan.AppendCount(dst, `,"completion_tokens":`, u.Output())
	dst = jsonscan.AppendCount(dst, `,"total_tokens":`, u.Total())
	dst = jsonscan.AppendCount(dst, `,"prompt_tokens_details":{"cached_tokens":`, u.CacheRead)
	if !m.Input.Media && !m.Input.Images {
		dst = jsonscan.AppendCount(dst, `,"text_tokens":`, prompt)
	}
	dst = append(dst, `,"audio_tokens":0`...)
	if !m.Input.Images {
		dst = append(dst, `,"image_tokens":0`...)
	}
	dst = jsonscan.AppendCount(dst, `,"cache_write_tokens":`, u.Written())
	dst = jsonscan.AppendCount(dst, `},"completion_tokens_details":{"text_tokens":`, u.Answer)
	dst = jsonscan.AppendCount(append(dst, `,"audio_tokens":0`...), `,"reasoning_tokens":`, u.Reasoning)
	return append(dst, "}}"...)
}

const includeUsage = `"include_usage":true`

// AskUsage returns the edit of a request that asks for the usage of its stream, in
// the least intrusive of four ways.
func AskUsage(body []byte, u *translate.StreamUsage) edit.Edit {
	switch options := u.Options; {
	case !u.Value.Empty():
		return edit.Edit{Span: u.Value, With: []byte("true")}
	case options.Empty():
		return edit.Edit{Span: translate.Span{Start: u.End, End: u.End}, With: []byte(`,"stream_options":{` + includeUsage + `}`)}
	case body[options.Start] == 'n', len(bytes.TrimSpace(body[options.Start+1:options.End-1])) == 0: // null or {}
		return edit.Edit{Span: options, With: []byte("{" + includeUsage + "}")}
	default:
		span := translate.Span{Start: options.Start + 1, End: options.Start + 1}
		return edit.Edit{Span: span, With: []byte(includeUsage + ",")}
	}
}
