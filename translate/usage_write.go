package translate

import "strconv"

// AppendMessagesUsage appends the usage object of a messages answer. The four
// counts that clients add up are always there, 0 while unknown; what else is
// told only when known.
func AppendMessagesUsage(dst []byte, u Usage, tier Tier) []byte {
	dst = appendCount(dst, `{"input_tokens":`, u.Input)
	dst = appendCount(dst, `,"cache_creation_input_tokens":`, u.CacheWrite)
	dst = appendCount(dst, `,"cache_read_input_tokens":`, u.CacheRead)
	dst = appendCount(dst, `,"output_tokens":`, u.Output)
	if u.Reasoning > 0 {
		dst = appendCount(dst, `,"output_tokens_details":{"thinking_tokens":`, u.Reasoning)
		dst = append(dst, '}')
	}
	if word := tier.Messages(); word != "" {
		dst = append(dst, `,"service_tier":"`...)
		dst = append(dst, word...)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// AppendChoicesUsage appends the usage object of a chat or completions answer
// to the request that the memory is of. All details are there that follow from
// the counts: without media, all of a prompt is text.
func AppendChoicesUsage(dst []byte, u Usage, m *Memory) []byte {
	prompt := u.TotalInput()
	dst = appendCount(dst, `{"prompt_tokens":`, prompt)
	dst = appendCount(dst, `,"completion_tokens":`, u.Output)
	dst = appendCount(dst, `,"total_tokens":`, u.Total())
	dst = appendCount(dst, `,"prompt_tokens_details":{"cached_tokens":`, u.CacheRead)
	if !m.HasMedia && !m.HasImages {
		dst = appendCount(dst, `,"text_tokens":`, prompt)
	}
	dst = append(dst, `,"audio_tokens":0`...)
	if !m.HasImages {
		dst = append(dst, `,"image_tokens":0`...)
	}
	dst = appendCount(dst, `,"cache_write_tokens":`, u.CacheWrite)
	dst = appendCount(dst, `},"completion_tokens_details":{"text_tokens":`, max(0, u.Output-u.Reasoning))
	dst = append(dst, `,"audio_tokens":0`...)
	dst = appendCount(dst, `,"reasoning_tokens":`, u.Reasoning)
	return append(dst, "}}"...)
}

func appendCount(dst []byte, before string, n int64) []byte {
	return strconv.AppendInt(append(dst, before...), n, 10)
}
