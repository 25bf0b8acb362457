package toolcall

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// toolIDPrefix begins ids that replace those of a provider that the messages format
// does not allow.
const toolIDPrefix = "gwid1_"

// maxToolID is the length of the longest id that is not replaced, in bytes.
const maxToolID = 64

// AppendID appends the id that a messages client gets for the provider's id of a call,
// which must not be empty. It has only letters, digits, "_" and "-". An id that looks
// like a replaced one is replaced, too, so that AppendOriginalID restores it.
func AppendID(dst, id []byte) []byte {
	if len(id) <= maxToolID && translate.PlainName(id) && !bytes.HasPrefix(id, []byte(toolIDPrefix)) {
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
	before := len(dst)
	dst, err := base64.RawURLEncoding.Strict().AppendDecode(dst, id[len(toolIDPrefix):])
	if err != nil { // the provider's id has the prefix by chance
		return append(dst[:before], id...)
	}
	return dst
}

// IDs makes the ids of the calls of an answer unique. The zero value is ready to use.
type IDs struct {
	next map[string]int // by id: the number to try next
}

// AsIs appends an id that clients get as it is.
func AsIs(dst, id []byte) []byte { return append(dst, id...) }

// Show returns the client's id of a call for the provider's id, as write appends it, in
// memory of its own. If the provider gave none, it gets a new one. An id that repeats an
// earlier one gets a number, which is a part of the id that the provider gets back.
func (s *IDs) Show(id []byte, newID func() string, write func(dst, id []byte) []byte) []byte {
	if len(id) == 0 {
		id = []byte(newID())
	}
	shown := write(nil, id)
	if n := s.next[string(shown)]; n > 0 {
		same := string(shown)
		for ; s.next[string(shown)] > 0; n++ {
			numbered := append(id[:len(id):len(id)], '_')
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
