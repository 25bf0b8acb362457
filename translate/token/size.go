package token

import "math"

// What media count for, whatever their size, in tokens.
const (
	tokensOfImage    = 1500
	tokensOfDocument = 3000
)

// DefaultBytesPerToken is the ratio of a model of which nothing is known.
const DefaultBytesPerToken = 4

// Size is how much a request says: what an estimate of its tokens is made of.
type Size struct {
	Bytes     int64 // of texts, tool inputs, tool names, descriptions and schemas, in UTF-8
	Images    int64
	Documents int64 // sent along as files
}

// Tokens estimates the input tokens, at least 1; a ratio of 0 bytes per token
// stands for the default. It is no count, and must never be shown as usage.
func (s Size) Tokens(bytesPerToken float64) int64 {
	if bytesPerToken == 0 {
		bytesPerToken = DefaultBytesPerToken
	}
	text := int64(math.Ceil(float64(s.Bytes) / bytesPerToken))
	return max(1, text+tokensOfImage*s.Images+tokensOfDocument*s.Documents)
}
