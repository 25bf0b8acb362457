package meter

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"

// PromptTokens estimates the tokens of a request body from its length in bytes and the
// files in it. The result is at least 1.
func PromptTokens(length int, files token.FileCosts) int64 {
	return (int64(length)-files.Bytes)/token.DefaultBytesPerToken + files.Tokens + 1
}
