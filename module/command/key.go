package command

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

const (
	keyPrefix = "sk-"
	keyLength = 48 // characters after the prefix: 285 bits
	alphabet  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newKey returns a key that nobody can guess.
func newKey() string {
	key := []byte(keyPrefix)
	var random [keyLength]byte
	for {
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			// Above the last multiple of 62 some characters would be likelier.
			if int(b) >= 256/len(alphabet)*len(alphabet) {
				continue
			}
			if key = append(key, alphabet[int(b)%len(alphabet)]); len(key) == len(keyPrefix)+keyLength {
				return string(key)
			}
		}
	}
}

// digest is the form in which a configuration may hold a key.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}
