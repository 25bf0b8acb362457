package gateway

import (
	"math/rand/v2"
	"strings"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newRequestID returns "req_" and 24 random base62 characters. It names a
// request and protects nothing, so it needs no cryptographic source.
func newRequestID() string {
	id := [28]byte{'r', 'e', 'q', '_'}
	var bits uint64
	for i := 4; i < len(id); i++ {
		if (i-4)%10 == 0 { // one word gives ten characters
			bits = rand.Uint64()
		}
		id[i] = base62[bits%62]
		bits /= 62
	}
	return string(id[:])
}

// headerSafe returns a model name as a header value: names may hold what
// header values must not.
func headerSafe(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, name)
}
