package exchange

import (
	"crypto/sha256"
	"time"
)

// Digest is the SHA-256 digest of a key: all that is kept of it.
type Digest = [sha256.Size]byte

// Key is an API key of this gateway.
type Key struct {
	ID      string // name shown in logs and placeholders; never the key itself
	Digest  Digest
	Models  []Pattern // client-visible model names it may use; none means all
	Expires time.Time // zero means never
}

// Expired reports whether k is no longer valid at now.
func (k *Key) Expired(now time.Time) bool {
	return !k.Expires.IsZero() && !now.Before(k.Expires)
}

// Allows reports whether k may use the model that the client names so.
func (k *Key) Allows(model string) bool {
	if len(k.Models) == 0 {
		return true
	}
	for _, p := range k.Models {
		if p.Match(model) {
			return true
		}
	}
	return false
}
