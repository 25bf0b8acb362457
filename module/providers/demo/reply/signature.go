package reply

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
)

// signer is the key of signatures. It is no secret, because a signature only shows that a
// client has sent reasoning back unchanged.
var signer = []byte("caddy ai gateway demo provider")

const nonceSize = 12

// sign returns the signature of reasoning with a shown text. Because of the nonce, the
// signatures of reasoning without text differ.
func sign(hash [sha256.Size]byte, text string) string {
	nonce := hash[:nonceSize]
	return base64.StdEncoding.EncodeToString(append(bytes.Clone(nonce), seal(nonce, text)...))
}

// Signed reports whether Answer.Sign made the signature for this text.
func Signed(text, signature string) bool {
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
