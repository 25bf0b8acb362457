package toolcall

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
)

// History follows the calls of a conversation and the results that refer to them by ids, some of
// which may repeat: some providers number the calls of each turn anew. The zero value is ready to
// use.
type History struct {
	ids    map[uint64]callsOfID
	hashes []uint64 // of the ids, each once
	calls  []numbered
	turn   int
}

// callsOfID are the calls with an id so far, by their positions in History.calls.
type callsOfID struct {
	number int // of the latest call
	latest int
	next   int // the call that the next result answers
	turn   int // of the latest call
}

// numbered is a call with the number that distinguishes it from others with its id.
type numbered struct {
	number int
	next   int // the next call of the same id and turn, 0 for none
}

// Reset empties the history.
func (h *History) Reset() {
	clear(h.ids)
	h.hashes, h.calls, h.turn = h.hashes[:0], h.calls[:0], 0
}

// EndTurn ends a turn of the assistant.
func (h *History) EndTurn() { h.turn++ }

// Hashes returns the sorted hashes of the ids of all calls, nil for none.
func (h *History) Hashes() []uint64 {
	hashes := append([]uint64(nil), h.hashes...)
	slices.Sort(hashes)
	return hashes
}

// Call returns an id for a call that no earlier call has: the id itself, or with a number.
func (h *History) Call(id []byte) (unique []byte) {
	if h.ids == nil {
		h.ids = make(map[uint64]callsOfID)
	}
	key := Hash(id)
	of, repeated := h.ids[key]
	if of.number++; repeated {
		for h.ids[Hash(withNumber(id, of.number))] != (callsOfID{}) {
			of.number++
		}
		unique = withNumber(id, of.number)
		h.ids[Hash(unique)] = callsOfID{number: 1, turn: -1}
	} else {
		unique, h.hashes = id, append(h.hashes, key)
	}
	at := len(h.calls)
	h.calls = append(h.calls, numbered{number: of.number})
	if repeated && of.turn == h.turn {
		h.calls[of.latest].next = at
	} else {
		of.next = at
	}
	of.latest, of.turn = at, h.turn
	h.ids[key] = of
	return unique
}

// Result returns the id of the call that a result answers: of the calls with its id in the latest
// turn that has one, the first that no result has answered yet, or else the last.
func (h *History) Result(id []byte) []byte {
	of, known := h.ids[Hash(id)]
	if !known || of.turn < 0 {
		return id
	}
	call := h.calls[of.next]
	if call.next > 0 {
		of.next = call.next
		h.ids[Hash(id)] = of
	}
	return withNumber(id, call.number)
}

// withNumber returns the id of a call with a number, 1 for the first.
func withNumber(id []byte, number int) []byte {
	if number == 1 {
		return id
	}
	return strconv.AppendInt(append(slices.Clip(id), '_'), int64(number), 10)
}

var seed = maphash.MakeSeed()

// Hash returns a hash of an id, which differs from one process to another.
func Hash(id []byte) uint64 { return maphash.Bytes(seed, id) }

// repeatMark precedes the number in the id that a client gets for a new call whose id
// is that of an earlier one.
const repeatMark = "_gw"

// appendRepeat appends a client's id for the nth call with an id.
func appendRepeat(dst, id []byte, n int) []byte {
	return strconv.AppendInt(append(append(dst, id...), repeatMark...), int64(n), 10)
}

// CutRepeat returns the provider's id of a call whose id for the client distinguishes the call
// from an earlier one.
func CutRepeat(id []byte) []byte {
	at := bytes.LastIndex(id, []byte(repeatMark))
	if at <= 0 || len(bytes.Trim(id[at+len(repeatMark):], "0123456789")) > 0 || at+len(repeatMark) == len(id) {
		return id
	}
	return id[:at]
}
