package toolcall

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

const (
	// LongestName is the length of the longest tool name that chat providers accept.
	LongestName = 64
	// keptToolName is the length of the part of a longer name before the digest.
	keptToolName = 55
	// toolNameDigest is the number of bytes of the digest after it.
	toolNameDigest = 4
)

// AppendName appends the name of a tool for chat providers: the name itself if they
// accept it, else its allowed bytes, shortened, and a digest that distinguishes it from
// other names. The same name always gives the same result.
func AppendName(dst, name []byte) []byte {
	if len(name) <= LongestName && translate.PlainName(name) {
		return append(dst, name...)
	}
	kept := 0
	for _, b := range name {
		if translate.PlainByte(b) && kept < keptToolName {
			dst = append(dst, b)
			kept++
		}
	}
	digest := sha256.Sum256(name)
	return hex.AppendEncode(append(dst, '_'), digest[:toolNameDigest])
}
