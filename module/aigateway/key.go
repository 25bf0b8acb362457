package aigateway

import (
	"crypto/sha256"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Digest is the SHA-256 digest of a key or a session token: all that is kept
// of it.
type Digest = [sha256.Size]byte

// Key is an API key of this gateway, as a request is checked against it.
type Key struct {
	ID       string // name shown in logs and placeholders, unique; never the key itself
	Digest   Digest
	Models   []Pattern      // client-visible model names it may use; none means all
	Networks []netip.Prefix // where it may be used from; none means anywhere
	Expires  time.Time      // zero means never
	Disabled bool           // it is refused, as if it had expired
	Owner    string         // name of the user it belongs to; empty for keys without one
	Limit    string         // name of the limit that it is subject to; empty for none

	// Subject is whose use its limit counts: keys with the same one have one
	// quota together. Empty for a key that has its own.
	Subject string
}

const storedKeyPrefix = "key_"

// StoredKeyID is the ID of the key with this number in a Store.
func StoredKeyID(number int64) string { return storedKeyPrefix + strconv.FormatInt(number, 10) }

// IsStoredKeyID reports whether a key of a Store may have this ID. All other
// keys are named otherwise, or a log could be read as telling of one that a user
// has made.
func IsStoredKeyID(id string) bool {
	number, err := strconv.ParseInt(strings.TrimPrefix(id, storedKeyPrefix), 10, 64)
	return err == nil && number > 0 && StoredKeyID(number) == id
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

// AllowsFrom reports whether k may be used from an address. An address that is
// not known is in no network.
func (k *Key) AllowsFrom(address netip.Addr) bool {
	if len(k.Networks) == 0 {
		return true
	}
	address = address.Unmap().WithZone("")
	for _, network := range k.Networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// KeyError says what is wrong with one key of several.
type KeyError struct {
	ID      string // of the key
	Problem string // "is defined twice"
}

// Error names the key.
func (e *KeyError) Error() string { return "key '" + e.ID + "' " + e.Problem }
