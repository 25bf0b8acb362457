package reply

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// signer is the key of signatures. It is no secret, because a signature only shows that a
// client has sent reasoning back unchanged.
var signer = []byte("caddy ai gateway demo provider")

const nonceSize = 12

// sign returns the signature of reasoning with a shown text. Because of the nonce, the
// signatures of reasoning without text differ.
func sign(hash [sha256.Size]byte, text string) []byte {
	nonce := hash[:nonceSize]
	return base64.StdEncoding.AppendEncode(nil, append(bytes.Clone(nonce), digest(nonce, text)...))
}

// signed reports whether sign made the signature for this text.
func signed(text, signature string) bool {
	raw, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && len(raw) > nonceSize && hmac.Equal(raw[nonceSize:], digest(raw[:nonceSize], text))
}

func digest(nonce []byte, text string) []byte {
	mac := hmac.New(sha256.New, signer)
	mac.Write(nonce)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// hasSignature reports whether a member of an object is the signature of reasoning without text.
func hasSignature(object []byte) bool {
	for _, value := range jsonscan.Members(object) {
		if signed("", jsonscan.TextOf(value)) {
			return true
		}
	}
	return false
}
