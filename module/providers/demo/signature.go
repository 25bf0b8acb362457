package demo

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
)

// signer is no secret: a signature shows that thinking came back as it was
// sent, no more.
var signer = []byte("caddy ai gateway demo provider")

const nonceSize = 12

// sign makes the signature of a thinking block whose shown text is given. The
// nonce makes blocks without text differ.
func sign(hash [sha256.Size]byte, text string) string {
	nonce := hash[:nonceSize]
	return base64.StdEncoding.EncodeToString(append(bytes.Clone(nonce), seal(nonce, text)...))
}

// signed reports whether the signature is one of sign's for this text.
func signed(text, signature string) bool {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(raw) < nonceSize {
		return false
	}
	return hmac.Equal(raw[nonceSize:], seal(raw[:nonceSize], text))
}

func seal(nonce []byte, text string) []byte {
	mac := hmac.New(sha256.New, signer)
	mac.Write(nonce)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
