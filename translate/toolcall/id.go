package toolcall

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// toolIDPrefix begins the ids by which messages clients know the calls of
// providers whose own ids the messages format does not allow.
const toolIDPrefix = "gwid1_"

// maxToolID is the longest id, in bytes, that is shown as it is.
const maxToolID = 64

// AppendID appends the id by which a messages client knows a call that the
// provider calls id, which must not be empty. Only letters, digits, "_" and "-"
// occur in it. An id that looks like one of those made here is made into one, so
// that it comes back as it was.
func AppendID(dst, id []byte) []byte {
	if len(id) <= maxToolID && translate.PlainName(id) && !bytes.HasPrefix(id, []byte(toolIDPrefix)) {
		return append(dst, id...)
	}
	dst = append(dst, toolIDPrefix...)
	return base64.RawURLEncoding.AppendEncode(dst, id)
}

// AppendOriginalID appends the id by which the provider knows a call that a
// messages client calls id: the reverse of AppendID.
func AppendOriginalID(dst, id []byte) []byte {
	if len(id) <= len(toolIDPrefix) || string(id[:len(toolIDPrefix)]) != toolIDPrefix {
		return append(dst, id...)
	}
	before := len(dst)
	dst, err := base64.RawURLEncoding.Strict().AppendDecode(dst, id[len(toolIDPrefix):])
	if err != nil { // someone else's id
		return append(dst[:before], id...)
	}
	return dst
}

// IDs gives the calls of an answer the ids by which the client knows them,
// each to one call only. The zero value has given none.
type IDs struct {
	next map[string]int // of the ids that were shown: the number to try next
}

// Show returns the id of a call which the provider calls id, as write appends
// it, in memory of its own. The second of two that are the same is told apart by
// a number, which is a part of the id that comes back to the provider.
func (s *IDs) Show(id []byte, write func(dst, id []byte) []byte) []byte {
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
