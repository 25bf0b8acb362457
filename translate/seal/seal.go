// Package seal closes reasoning of one wire format into a text that clients of
// another one keep and send back, and the ids of objects that providers store.
//
// It promises that a text which opens was sealed by a gateway with the same key,
// for the same provider and the same tenant, and that not a byte of it was
// changed. Sealed ids are encrypted; sealed reasoning is not: what a provider must not show
// is encrypted by the provider. The package has no clock and no randomness, so the same
// reasoning is sealed alike every time, which the prompt caches of providers ask for.
//
// For clients that send nothing back, it remembers the signatures of calls, within bounds and
// as long as the ring exists.
package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// The kinds of sealed texts, each of which begins with its kind. No provider's
// own signature has a colon.
const (
	Item  = "gwrs1:" // a reasoning item of the responses format, in a thinking block
	Block = "gwth1:" // a thinking block, in a reasoning item of the responses format
)

// SelfSigned begins the signatures that this gateway gives to thinking which no provider has
// signed. They seal nothing.
const SelfSigned = "gwts1:"

const (
	// MinKey is the length of the shortest key, in bytes.
	MinKey = 16
	// tagSize is how much of the authenticator a sealed text has, in bytes.
	tagSize = 18
)

// ErrShortKey reports a key of less than MinKey bytes.
var ErrShortKey = errors.New("the key of seals is too short")

// Ring holds the keys of a gateway. It is safe for concurrent use.
type Ring struct {
	keys   [][]byte
	ids    []sealingKey // in the order of keys
	memory memory
}

// NewRing returns a ring that seals with the first key and opens with any of them,
// so that a key can be replaced while clients still hold what an older one sealed.
func NewRing(current []byte, older ...[]byte) (*Ring, error) {
	ring := &Ring{}
	for i, key := range append([][]byte{current}, older...) {
		if len(key) < MinKey {
			return nil, fmt.Errorf("%w: key %d has %d bytes, and must have %d", ErrShortKey, i+1, len(key), MinKey)
		}
		ring.keys = append(ring.keys, bytes.Clone(key))
		ring.ids = append(ring.ids, newSealingKey(key, "ids of stored objects"))
	}
	return ring, nil
}

// Sealer seals and opens the reasoning of one provider for one tenant. It is safe
// for concurrent use.
type Sealer struct {
	ring     *Ring
	context  []byte
	sealOnly bool
}

// For returns the sealer of a provider and a tenant: names that stay the same as
// long as what was sealed shall open.
func (r *Ring) For(provider, tenant string) *Sealer {
	context := fmt.Appendf(nil, "%d %s%d %s", len(provider), provider, len(tenant), tenant)
	return &Sealer{ring: r, context: context}
}

// SealOnly returns a sealer that seals like s, and opens nothing.
func (s *Sealer) SealOnly() *Sealer {
	return &Sealer{ring: s.ring, context: s.context, sealOnly: true}
}

// Append appends the sealed text of a payload.
func (s *Sealer) Append(dst []byte, kind string, payload []byte) []byte {
	dst = append(dst, kind...)
	dst = base64.RawURLEncoding.AppendEncode(dst, s.tag(s.ring.keys[0], kind, payload))
	dst = append(dst, '.')
	return append(dst, payload...)
}

// Open returns the payload of a sealed text of the kind. It is a slice of the
// text. ok is false for one that this gateway did not seal for the same provider
// and tenant, and for one that was changed. A nil Sealer opens nothing.
func (s *Sealer) Open(kind string, text []byte) (payload []byte, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(kind))
	if !ok || s == nil || s.sealOnly {
		return nil, false
	}
	encoded, payload, ok := bytes.Cut(rest, []byte{'.'})
	if !ok || len(encoded) != base64.RawURLEncoding.EncodedLen(tagSize) {
		return nil, false
	}
	tag, err := base64.RawURLEncoding.Strict().AppendDecode(nil, encoded)
	if err != nil {
		return nil, false
	}
	for _, key := range s.ring.keys {
		if hmac.Equal(tag, s.tag(key, kind, payload)) {
			return payload, true
		}
	}
	return nil, false
}

// tag authenticates a payload in its context.
func (s *Sealer) tag(key []byte, kind string, payload []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(kind))
	mac.Write(s.context)
	mac.Write(payload)
	return mac.Sum(nil)[:tagSize]
}
