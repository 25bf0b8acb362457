package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// SelfSignedDigest is how many bytes of the digest a signature holds.
const SelfSignedDigest = 16

// SelfSignedSize is the length of a signature in bytes.
const SelfSignedSize = len(SelfSigned) + (SelfSignedDigest*8+5)/6

// AppendSelfSigned appends the gateway's own signature of thinking from a provider that
// does not sign, so that clients can send the block back. The signature proves nothing;
// it only distinguishes such blocks from those that a provider signed.
func AppendSelfSigned(dst, thinking []byte) []byte {
	digest := sha256.Sum256(thinking)
	dst = append(dst, SelfSigned...)
	return base64.RawURLEncoding.AppendEncode(dst, digest[:SelfSignedDigest])
}

// IsOwn reports whether the signature of a thinking block was made by this gateway: it is one
// of its own, or seals reasoning of a responses provider. Both are escaped.
func IsOwn(thinking, signature []byte) bool {
	return bytes.HasPrefix(signature, []byte(Item)) || IsSelfSigned(thinking, signature)
}

// MayBeOwn reports whether IsOwn can be true of a signature, escaped, as of few.
func MayBeOwn(signature []byte) bool {
	return bytes.HasPrefix(signature, []byte(Item)) || hasSize(signature)
}

// hasSize reports whether an escaped signature can have the size of a self-signed one.
func hasSize(signature []byte) bool {
	return SelfSignedSize <= len(signature) && len(signature) <= SelfSignedSize*len(`\u0000`)
}

// IsSelfSigned reports whether a signature is the very one that this gateway would
// give to the thinking; both are escaped. A signature that only looks alike
// belongs to someone else.
func IsSelfSigned(thinking, signature []byte) bool {
	if !hasSize(signature) {
		return false
	}
	var room [2 * SelfSignedSize]byte
	if jsonscan.HasEscapes(signature) {
		signature = jsonscan.AppendUnescaped(room[:0], signature)
	}
	if len(signature) != SelfSignedSize || string(signature[:len(SelfSigned)]) != SelfSigned {
		return false
	}
	var want [SelfSignedSize]byte
	return string(signature) == string(AppendSelfSigned(want[:0], jsonscan.AppendUnescaped(nil, thinking)))
}
