package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
)

// Vault encrypts what gateways with the same keys keep in a store that others may read and change.
type Vault struct {
	sealing []sealingKey // in the order of the keys of the ring
}

// Vault returns the vault for a purpose: a name that stays the same as long as what was sealed shall
// open.
func (r *Ring) Vault(purpose string) Vault {
	v := Vault{make([]sealingKey, len(r.keys))}
	for i, key := range r.keys {
		v.sealing[i] = newSealingKey(key, purpose)
	}
	return v
}

// MAC returns a keyed hash for names: without the key of the gateways, nobody can compute the name of
// a content that is guessed.
func (v Vault) MAC() hash.Hash { return hmac.New(sha256.New, v.sealing[0].nonce) }

// Seal encrypts a value. It opens under the same name only.
func (v Vault) Seal(name string, value []byte) []byte { return v.sealing[0].seal(value, []byte(name)) }

// Open returns the value that Seal has encrypted. ok is false for everything else.
func (v Vault) Open(name string, sealed []byte) (value []byte, ok bool) {
	for i := range v.sealing {
		if value, err := v.sealing[i].open(sealed, []byte(name)); err == nil {
			return value, true
		}
	}
	return nil, false
}
