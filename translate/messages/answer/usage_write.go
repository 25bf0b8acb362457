package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// AppendUsage appends the usage object of a messages answer. It always contains the four
// counts that clients add up, 0 while unknown, and other members only if they are known.
func AppendUsage(dst []byte, u token.Usage, tier event.Tier) []byte {
	dst = jsonscan.AppendCount(dst, `{"input_tokens":`, u.Input)
	dst = jsonscan.AppendCount(dst, `,"cache_creation_input_tokens":`, u.CacheWrite)
	dst = jsonscan.AppendCount(dst, `,"cache_read_input_tokens":`, u.CacheRead)
	dst = jsonscan.AppendCount(dst, `,"output_tokens":`, u.Output)
	if u.Reasoning > 0 {
		dst = jsonscan.AppendCount(dst, `,"output_tokens_details":{"thinking_tokens":`, u.Reasoning)
		dst = append(dst, '}')
	}
	if word := Tiers[tier]; word != "" {
		dst = append(dst, `,"service_tier":"`...)
		dst = append(dst, word...)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}
