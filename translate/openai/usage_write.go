package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

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
	dst = append(dst, `,"audio_tokens":0`...)
	dst = jsonscan.AppendCount(dst, `,"reasoning_tokens":`, u.Reasoning)
	return append(dst, "}}"...)
}
