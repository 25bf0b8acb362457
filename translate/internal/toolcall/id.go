package toolcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// toolIDPrefix begins ids that replace those of a provider that the messages format
// does not allow.
const toolIDPrefix = "gwid1_"

// MaxID is the length of the longest id of a call that services accept, in bytes.
const MaxID = 64

// AppendID appends the id that a messages client gets for the provider's id of a call,
// which must not be empty. It has only letters, digits, "_" and "-". An id that looks
// like a replaced one is replaced, too, so that AppendOriginalID restores it.
func AppendID(dst, id []byte) []byte {
	if len(id) <= MaxID && translate.PlainName(id) && !bytes.HasPrefix(id, []byte(toolIDPrefix)) {
		return append(dst, id...)
	}
	dst = append(dst, toolIDPrefix...)
	return base64.RawURLEncoding.AppendEncode(dst, id)
}

// AppendOriginalID appends the provider's id of a call for the id that a messages
// client sends. It is the reverse of AppendID.
func AppendOriginalID(dst, id []byte) []byte {
	if len(id) <= len(toolIDPrefix) || string(id[:len(toolIDPrefix)]) != toolIDPrefix {
		return append(dst, id...)
	}
	head := len(dst)
	dst, err := base64.RawURLEncoding.Strict().AppendDecode(dst, id[len(toolIDPrefix):])
	if err != nil { // the provider's id has the prefix by chance
		return append(dst[:head], id...)
	}
	return dst
}

// AppendDigest appends the digest of the id of a call, in MaxID digits.
func AppendDigest(dst, id []byte) []byte {
	digest := sha256.Sum256(id)
	return hex.AppendEncode(dst, digest[:])
}

// shortID is the length of the ids that some models accept, in letters and digits.
const shortID = 9

// AppendShortID appends the id of a call for models that accept only ids of nine letters and
// digits: the id itself, or else a part of its digest.
func AppendShortID(dst, id []byte) []byte {
	if len(id) == shortID && translate.PlainName(id) && !bytes.ContainsAny(id, "_-") {
		return append(dst, id...)
	}
	digest := sha256.Sum256(id)
	return append(dst, hex.EncodeToString(digest[:])[:shortID]...)
}

// IDs makes the ids of the calls of an answer unique. The zero value is ready to use.
type IDs struct {
	next map[string]int // by id: the number to try next
}

// AsIs appends an id that clients get as it is.
func AsIs(dst, id []byte) []byte { return append(dst, id...) }

// Show returns the client's id of a call for the provider's id, as write appends it, in
// memory of its own. If the provider gave none, it gets a new one. earlier are the sorted hashes of the
// client's ids of the calls in the request: an id that repeats one of them gets a number, which
// CutRepeat removes. An id that repeats one of the answer gets a number, which is a part of the
// id that the provider gets back.
func (s *IDs) Show(id []byte, newID func() string, write func(dst, id []byte) []byte, earlier []uint64) []byte {
	if len(id) == 0 {
		id = []byte(newID())
	}
	shown, own := write(nil, id), id
	for n := 2; repeats(earlier, shown); n++ {
		id = appendRepeat(nil, own, n)
		shown = write(shown[:0], id)
	}
	if n := s.next[string(shown)]; n > 0 {
		same := string(shown)
		for ; s.next[string(shown)] > 0 || repeats(earlier, shown); n++ {
			numbered := append(own[:len(own):len(own)], '_')
			shown = write(shown[:0], strconv.AppendInt(numbered, int64(n), 10))
		}
		s.next[same] = n
	}
	if s.next == nil {
		s.next = make(map[string]int, 1)
	}
	s.next[string(shown)] = 2
	return shown
}

// repeats reports whether an id is one of those with the sorted hashes.
func repeats(hashes []uint64, id []byte) bool {
	if len(hashes) == 0 {
		return false
	}
	_, found := slices.BinarySearch(hashes, Hash(id))
	return found
}
