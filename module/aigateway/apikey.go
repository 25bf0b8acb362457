package aigateway

import (
	"crypto/rand"
	"errors"
	"hash/crc32"
	"strings"
)

// Base62 are the digits of base 62, which are the characters of API keys and of
// ids, in the order of their values.
const Base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// An API key that NewAPIKey returns is "sk-" and 48 base62 digits: 42 random
// digits (250 bits), then a checksum of them, which distinguishes a mistyped key from
// a foreign one without a lookup.
const (
	apiKeyPrefix   = "sk-"
	apiKeyRandom   = 42
	apiKeyChecksum = 6 // 62^6 is more than 2^32
)

// NewAPIKey returns a new random key: "sk-" and 48 digits of Base62.
func NewAPIKey() Secret {
	key := append(make([]byte, 0, len(apiKeyPrefix)+apiKeyRandom+apiKeyChecksum), apiKeyPrefix...)
	key = appendRandom(key, apiKeyRandom)
	return Secret(appendChecksum(key, key[len(apiKeyPrefix):]))
}

// appendRandom appends n random base62 digits.
func appendRandom(dst []byte, n int) []byte {
	const fair = 256 / len(Base62) * len(Base62) // larger bytes would make some digits more likely
	var random [64]byte
	for {
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			if n == 0 {
				return dst
			}
			if int(b) < fair {
				dst = append(dst, Base62[int(b)%len(Base62)])
				n--
			}
		}
	}
}

func appendChecksum(dst, text []byte) []byte {
	sum := crc32.ChecksumIEEE(text)
	for range apiKeyChecksum {
		dst = append(dst, Base62[sum%uint32(len(Base62))])
		sum /= uint32(len(Base62))
	}
	return dst
}

// ErrAPIKey is the error for a text that cannot be an API key of a client.
var ErrAPIKey = errors.New("a key has 8 to 256 printable ASCII characters, without spaces or commas")

// CheckAPIKey returns ErrAPIKey unless key has 8 to 256 printable ASCII characters without
// spaces, and without commas, which separate the values of a header.
func CheckAPIKey(key Secret) error {
	const shortest, longest = 8, 256
	invalid := func(r rune) bool { return r <= ' ' || r > '~' || r == ',' }
	if len(key) < shortest || len(key) > longest || strings.ContainsFunc(string(key), invalid) {
		return ErrAPIKey
	}
	return nil
}

// MistypedAPIKey reports whether s has the form of a key of NewAPIKey, but a wrong
// checksum. It returns false for all other strings.
func MistypedAPIKey(s string) bool {
	text, ok := strings.CutPrefix(s, apiKeyPrefix)
	foreign := func(r rune) bool { return !strings.ContainsRune(Base62, r) }
	if !ok || len(text) != apiKeyRandom+apiKeyChecksum || strings.ContainsFunc(text, foreign) {
		return false
	}
	return string(appendChecksum(nil, []byte(text[:apiKeyRandom]))) != text[apiKeyRandom:]
}

// APIKeyHint returns the beginning and the end of a key, by which its owner can recognise
// it. More than 200 random bits of the key remain unknown. The hint of a short key contains
// no part of it.
func APIKeyHint(key Secret) string {
	const head, tail, shortest = 7, 4, 40
	if len(key) < shortest {
		return "****"
	}
	return string(key[:head]) + "****" + string(key[len(key)-tail:])
}
