package aigateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Digest is the SHA-256 digest of an API key or of a session token. The gateway
// stores digests only.
type Digest = [sha256.Size]byte

// Key is an API key of the gateway: its digest, and the rights of requests with the key.
type Key struct {
	ID       string // unique name, which logs and placeholders show; never the key itself
	Digest   Digest
	Models   []Pattern      // model names, as clients use them, that the key may use; empty: all
	Networks []netip.Prefix // client addresses that may use the key; empty: all
	Expires  time.Time      // zero: never
	Disabled bool           // the key is refused, as if it had expired
	Owner    string         // name of its user; a limit may count all keys of the user together; may be empty
	Limit    string         // the name of its limit; empty: none
	Team     *Team          // the team with the name of the limit, whose models are a bound, too; nil: none

	// Own is the limit with the rules of the key alone, which are in a store, nil for none. See
	// [OwnLimit]; those of its owner are in RuledUsers.
	Own *Limit

	// Subject identifies the user of the key among the users of all stores. Reasoning
	// is sealed for the subject. Empty: the key belongs to no user of a store.
	Subject string

	// Labels are those that every request with the key has. The key of a request that the
	// gateway admits has all labels of the request: limits and the ledger read them there.
	Labels
}

const storedKeyPrefix = "key_"

// StoredKeyID returns the Key.ID of the key with this ID in a Store: "key_1".
func StoredKeyID(number int64) string { return storedKeyPrefix + strconv.FormatInt(number, 10) }

// StoredKeyNumber returns the ID in a Store of the key with a Key.ID, which people may shorten: 1 for "key_1" and
// for "1". It returns false for every other text.
func StoredKeyNumber(id string) (number int64, ok bool) {
	digits := strings.TrimPrefix(id, storedKeyPrefix)
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, err == nil && number > 0 && strconv.FormatInt(number, 10) == digits
}

// IsStoredKeyID reports whether id has the form of StoredKeyID. Other key sources refuse
// such names, so that every log line with such an ID is about the key of a user.
func IsStoredKeyID(id string) bool {
	number, ok := StoredKeyNumber(id)
	return ok && id == StoredKeyID(number)
}

// Matches reports whether k has a digest. It takes constant time. A KeySource that finds
// keys in a map calls Matches for the found key, because the time of a lookup in a map may
// depend on the digest.
func (k *Key) Matches(digest Digest) bool {
	return subtle.ConstantTimeCompare(k.Digest[:], digest[:]) == 1
}

// Expired reports whether k has expired at now.
func (k *Key) Expired(now time.Time) bool {
	return !k.Expires.IsZero() && !now.Before(k.Expires)
}

// Allows reports whether k may use the model with this name, as clients use it.
func (k *Key) Allows(model string) bool {
	return allows(k.Models, model) && (k.Team == nil || allows(k.Team.Models, model))
}

func allows(models []Pattern, model string) bool {
	return len(models) == 0 || slices.ContainsFunc(models, func(p Pattern) bool { return p.Match(model) })
}

// Bound returns the models to which k is bound: those of the key, or else those of its team.
// It is empty if k may use all models. Allows decides about a model.
func (k *Key) Bound() []Pattern {
	if bound := bounding(k.Models); bound != nil || k.Team == nil {
		return bound
	}
	return bounding(k.Team.Models)
}

// bounding returns patterns, nil if they permit all models.
func bounding(models []Pattern) []Pattern {
	if len(models) == 0 || slices.Contains(models, anyName) {
		return nil
	}
	return models
}

// AllowsFrom reports whether a client with this address may use k. The zero
// address is in no network.
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
