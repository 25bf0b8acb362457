package token

import "math"

// The tokens of media, whatever their size.
const (
	tokensOfImage    = 1500
	tokensOfDocument = 3000
)

// DefaultBytesPerToken is the ratio of a model whose ratio is unknown.
const DefaultBytesPerToken = 4

// Size is the size of a request, from which its tokens are estimated.
type Size struct {
	Bytes     int64 // of texts, tool inputs, tool names, descriptions and schemas, in UTF-8
	Images    int64
	Documents int64 // sent as files
}

// Tokens estimates the input tokens, at least 1. A ratio of 0 bytes per token means
// DefaultBytesPerToken. The estimate must never be shown as usage.
func (s Size) Tokens(bytesPerToken float64) int64 {
	if bytesPerToken == 0 {
		bytesPerToken = DefaultBytesPerToken
	}
	text := int64(math.Ceil(float64(s.Bytes) / bytesPerToken))
	return max(1, text+tokensOfImage*s.Images+tokensOfDocument*s.Documents)
}
