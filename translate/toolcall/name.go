package toolcall

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

const (
	// maxToolName is the longest tool name, in bytes, that chat providers take.
	maxToolName = 64
	// keptToolName is how much of a longer name is kept in front of the digest.
	keptToolName = 55
	// toolNameDigest is how many bytes of the digest follow it.
	toolNameDigest = 4
)

// PlainName reports whether chat providers take a tool name as it is.
func PlainName(name []byte) bool { return len(name) <= maxToolName && translate.PlainName(name) }

// AppendName appends the name by which a chat provider knows a tool: the
// name itself when it is plain, else what is allowed of it and a digest, which
// tells it from others that are cut alike. The same name always gives the same.
func AppendName(dst, name []byte) []byte {
	if PlainName(name) {
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
