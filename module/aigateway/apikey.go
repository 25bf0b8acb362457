package aigateway

import (
	"crypto/rand"
	"hash/crc32"
	"strings"
)

// Base62 are the digits of base 62, which are the characters of API keys and of
// ids, in the order of their values.
const Base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// An API key that this gateway mints is "sk-" and 48 base62 characters: 42
// random ones (250 bits) and 6 that are a checksum of those, so that a typing
// error is told from a stranger's key without any look-up.
const (
	apiKeyPrefix   = "sk-"
	apiKeyRandom   = 42
	apiKeyChecksum = 6 // 62^6 is more than 2^32
)

// NewAPIKey returns a key that nobody can guess.
func NewAPIKey() Secret {
	key := append(make([]byte, 0, len(apiKeyPrefix)+apiKeyRandom+apiKeyChecksum), apiKeyPrefix...)
	key = appendRandom(key, apiKeyRandom)
	return Secret(appendChecksum(key, key[len(apiKeyPrefix):]))
}

// appendRandom appends n random base62 characters.
func appendRandom(dst []byte, n int) []byte {
	const fair = 256 / len(Base62) * len(Base62) // above it some characters would be likelier
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

func appendChecksum(dst, of []byte) []byte {
	sum := crc32.ChecksumIEEE(of)
	for range apiKeyChecksum {
		dst = append(dst, Base62[sum%uint32(len(Base62))])
		sum /= uint32(len(Base62))
	}
	return dst
}

// MistypedAPIKey reports whether s looks like a key of NewAPIKey whose checksum
// is wrong. Keys of any other form are not mistyped, as far as anyone can tell.
func MistypedAPIKey(s string) bool {
	text, ok := strings.CutPrefix(s, apiKeyPrefix)
	foreign := func(r rune) bool { return !strings.ContainsRune(Base62, r) }
	if !ok || len(text) != apiKeyRandom+apiKeyChecksum || strings.ContainsFunc(text, foreign) {
		return false
	}
	return string(appendChecksum(nil, []byte(text[:apiKeyRandom]))) != text[apiKeyRandom:]
}

// APIKeyHint is what may be shown of a key so that its owner recognises it:
// the beginning and the end, which leave more than 200 bits unknown. Of a short
// key nothing is shown.
func APIKeyHint(key Secret) string {
	const head, tail, shortest = 7, 4, 40
	if len(key) < shortest {
		return "****"
	}
	return string(key[:head]) + "****" + string(key[len(key)-tail:])
}
