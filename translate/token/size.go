package token

import "math"

// The estimated tokens of media, whatever their size.
const (
	OfImage    = 1500
	OfDocument = 3000
)

// FileCosts is the cost of the files in a request.
type FileCosts struct {
	Bytes  int64 // of their base64 in the body
	Tokens int64 // estimated
}

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
	return max(1, text+OfImage*s.Images+OfDocument*s.Documents)
}
