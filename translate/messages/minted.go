package messages

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// mintPrefix begins every signature that this gateway made.
const mintPrefix = "gwts1:"

// mintDigest is how many bytes of the digest a signature holds.
const mintDigest = 16

// mintSize is the length of a signature in bytes.
const mintSize = len(mintPrefix) + (mintDigest*8+5)/6

// AppendMinted appends the signature that this gateway gives to thinking from
// a provider that signs none, so that clients can send the block back. It
// proves nothing; it only tells such blocks from those that a provider signed.
func AppendMinted(dst, thinking []byte) []byte {
	digest := sha256.Sum256(thinking)
	dst = append(dst, mintPrefix...)
	return base64.RawURLEncoding.AppendEncode(dst, digest[:mintDigest])
}

// minted reports whether the block is thinking with the very signature that
// this gateway would give it. A signature that only looks alike belongs to
// someone else, and its block is left alone.
func (b *block) minted() bool {
	if b.kind != thinkingBlock || len(b.signature) < mintSize+len(`""`) || b.thinking == nil {
		return false
	}
	var room [2 * mintSize]byte
	signature := b.signature[1 : len(b.signature)-1]
	if len(signature) > mintSize {
		// Longer than a plain signature: either another one or escaped.
		if len(signature) > mintSize*len(`\u0000`) {
			return false
		}
		signature = jsonscan.AppendText(room[:0], b.signature)
	}
	if len(signature) != mintSize || string(signature[:len(mintPrefix)]) != mintPrefix {
		return false
	}
	var want [mintSize]byte
	return string(signature) == string(AppendMinted(want[:0], b.text()))
}

// text is the thinking, decoded.
func (b *block) text() []byte { return jsonscan.AppendText(nil, b.thinking) }
