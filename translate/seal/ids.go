package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// idVersion is the character between the kind of a sealed id and what is encrypted.
const idVersion = '1'

// maxID is the length of the longest sealed id that is opened, in bytes.
const maxID = 512

var errShortID = errors.New("the id is too short")

// Account identifies an account at a provider.
type Account [8]byte

// AccountOf returns the account of an API key of a provider: the name of the provider in the
// configuration, and the index of the key. So a key that is replaced in its place keeps its objects.
func AccountOf(provider string, apiKey int) Account {
	sum := sha256.Sum256(binary.AppendUvarint([]byte(provider+"\x00"), uint64(apiKey)))
	return Account(sum[:])
}

// String returns the account as a text, which ParseAccount reads.
func (a Account) String() string { return hex.EncodeToString(a[:]) }

// ParseAccount reads the text of an account. ok is false for any other text.
func ParseAccount(text string) (a Account, ok bool) {
	decoded, err := hex.DecodeString(text)
	return a, err == nil && copy(a[:], decoded) == len(a) && len(decoded) == len(a)
}

// IDs seals the ids of objects that providers store, for one tenant: all clients of the gateway
// share an account at the provider, and who knows an id of the account can read its object.
//
// A sealed id is encrypted, opens for the same tenant and the same kind only, and contains the
// account. The same id is always sealed alike, so that clients can compare ids.
type IDs struct {
	ring   *Ring
	tenant string
}

// IDs returns the sealer of the ids of a tenant: a name that stays the same as long as what was
// sealed shall open.
func (r *Ring) IDs(tenant string) *IDs { return &IDs{r, tenant} }

// Append appends the sealed form of an id of an account.
func (s *IDs) Append(dst []byte, kind string, account Account, id []byte) []byte {
	rest, usual := bytes.CutPrefix(id, []byte(kind))
	plain := append(account[:], 0)
	if usual { // for nearly all ids: the kind is not encrypted as well
		plain[len(account)] = 1
	}
	key := &s.ring.ids[0]
	sealed := key.seal(append(plain, rest...), s.context(kind))
	dst = append(append(dst, kind...), idVersion)
	return encodingOf(kind).AppendEncode(dst, sealed)
}

// encoding is an encoding of bytes as text.
type encoding interface {
	AppendEncode(dst, src []byte) []byte
	AppendDecode(dst, src []byte) ([]byte, error)
}

// lowerCase writes lower-case letters and digits alone.
var lowerCase = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// encodingOf returns how ids of a kind are written. The clients of Google take the lower-case letters and
// digits behind "files/" in the address of a file for its id.
func encodingOf(kind string) encoding {
	if IsCollection(kind) {
		return lowerCase
	}
	return base64.RawURLEncoding
}

// Open returns the id that a sealed form of a kind contains, and its account. ok is false for
// everything else than what Append has written for the tenant, the kind and a key of the ring.
func (s *IDs) Open(kind string, text []byte) (account Account, id []byte, ok bool) {
	encoded, ok := bytes.CutPrefix(text, append([]byte(kind), idVersion))
	if !ok || len(text) > maxID {
		return account, nil, false
	}
	encoding := encodingOf(kind)
	sealed, err := encoding.AppendDecode(nil, encoded)
	if err != nil || !bytes.Equal(encoding.AppendEncode(nil, sealed), encoded) { // in another spelling
		return account, nil, false
	}
	for i := range s.ring.ids {
		plain, err := s.ring.ids[i].open(sealed, s.context(kind))
		if err != nil || len(plain) <= len(account) {
			continue
		}
		rest := plain[copy(account[:], plain):]
		if rest[0] == 1 {
			return account, append([]byte(kind), rest[1:]...), true
		}
		return account, rest[1:], true
	}
	return account, nil, false
}

// context returns what a sealed id is bound to beside its bytes.
func (s *IDs) context(kind string) []byte {
	return append(append([]byte(kind), 0), s.tenant...)
}

// sealingKey encrypts with AES-GCM. The nonce is derived from what is encrypted, so that equal ids
// are encrypted alike, and different ones share a nonce no more often than random ones do.
type sealingKey struct {
	aead  cipher.AEAD
	nonce []byte // the key of nonces
}

// newSealingKey derives the keys for a purpose from a key of the ring.
func newSealingKey(key []byte, purpose string) sealingKey {
	derived, err := hkdf.Key(sha256.New, key, nil, purpose, 64)
	if err != nil {
		panic(err) // only of a length that no hash can give
	}
	block, _ := aes.NewCipher(derived[:32]) // the only error is the length of the key
	aead, _ := cipher.NewGCM(block)
	return sealingKey{aead, derived[32:]}
}

func (k *sealingKey) seal(plain, context []byte) []byte {
	mac := hmac.New(sha256.New, k.nonce)
	mac.Write(binary.AppendUvarint(nil, uint64(len(context))))
	mac.Write(context)
	mac.Write(plain)
	nonce := mac.Sum(nil)[:k.aead.NonceSize()]
	return k.aead.Seal(nonce, nonce, plain, context)
}

func (k *sealingKey) open(sealed, context []byte) (plain []byte, err error) {
	n := k.aead.NonceSize()
	if len(sealed) < n {
		return nil, errShortID
	}
	return k.aead.Open(nil, sealed[:n], sealed[n:], context)
}
