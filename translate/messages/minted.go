package messages

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// mintDigest is how many bytes of the digest a signature holds.
const mintDigest = 16

// mintSize is the length of a signature in bytes.
const mintSize = len(seal.Mint) + (mintDigest*8+5)/6

// AppendMinted appends the signature that this gateway gives to thinking from
// a provider that signs none, so that clients can send the block back. It
// proves nothing; it only tells such blocks from those that a provider signed.
func AppendMinted(dst, thinking []byte) []byte {
	digest := sha256.Sum256(thinking)
	dst = append(dst, seal.Mint...)
	return base64.RawURLEncoding.AppendEncode(dst, digest[:mintDigest])
}

// minted reports whether the block is thinking that no messages provider signed: it
// has a signature of this gateway, or a sealed one of another format.
func (b *block) minted() bool {
	if b.kind != thinkingBlock || b.thinking == nil {
		return false
	}
	signature := jsonscan.Inner(b.signature)
	return bytes.HasPrefix(signature, []byte(seal.Item)) || isMinted(jsonscan.Inner(b.thinking), signature)
}

// isMinted reports whether a signature is the very one that this gateway would
// give to the thinking; both are escaped. A signature that only looks alike
// belongs to someone else.
func isMinted(thinking, signature []byte) bool {
	if len(signature) < mintSize || len(signature) > mintSize*len(`\u0000`) {
		return false
	}
	var room [2 * mintSize]byte
	if jsonscan.HasEscapes(signature) {
		signature = jsonscan.AppendUnescaped(room[:0], signature)
	}
	if len(signature) != mintSize || string(signature[:len(seal.Mint)]) != seal.Mint {
		return false
	}
	var want [mintSize]byte
	return string(signature) == string(AppendMinted(want[:0], jsonscan.AppendUnescaped(nil, thinking)))
}
