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
	ids    []knownID      // of calls, each once, and those that calls get in place of one that repeats
	places map[uint64]int // positions in ids, by hash
	calls  []numbered
	turn   int
}

// knownID is an id with its calls so far, by their positions in History.calls.
type knownID struct {
	hash   uint64
	number int // of the latest call
	latest int
	next   int // the call that the next result answers
	turn   int // of the latest call; noTurn for an id that no call of the conversation has
}

const noTurn = -1

// numbered is a call with the number that distinguishes it from others with its id.
type numbered struct {
	number int
	next   int // the next call of the same id and turn, 0 for none
}

// mostKept is the number of ids up to which the memory of a history is kept for the next one.
const mostKept = 4096

// Reset empties the history.
func (h *History) Reset() {
	if len(h.ids) > mostKept {
		*h = History{}
		return
	}
	clear(h.places)
	h.ids, h.calls, h.turn = h.ids[:0], h.calls[:0], 0
}

// EndTurn ends a turn of the assistant.
func (h *History) EndTurn() { h.turn++ }

// Hashes returns the sorted hashes of the ids of all calls, nil for none.
func (h *History) Hashes() []uint64 {
	if len(h.ids) == 0 {
		return nil
	}
	hashes := make([]uint64, 0, len(h.ids))
	for _, id := range h.ids {
		if id.turn != noTurn {
			hashes = append(hashes, id.hash)
		}
	}
	slices.Sort(hashes)
	return hashes
}

// find returns what is known of an id with that hash, nil for a new one.
func (h *History) find(hash uint64) *knownID {
	if i, known := h.places[hash]; known {
		return &h.ids[i]
	}
	return nil
}

// add adds a new id.
func (h *History) add(id knownID) {
	if h.places == nil {
		h.places = make(map[uint64]int)
	}
	h.places[id.hash] = len(h.ids)
	h.ids = append(h.ids, id)
}

// Call returns an id for a call that no earlier call has: the id itself, or with a number.
func (h *History) Call(id []byte) (unique []byte) {
	i, hash := len(h.calls), Hash(id)
	known := h.find(hash)
	if known == nil {
		h.add(knownID{hash: hash, number: 1, latest: i, next: i, turn: h.turn})
		h.calls = append(h.calls, numbered{number: 1})
		return id
	}
	for unique = id; h.find(Hash(unique)) != nil; {
		known.number++
		unique = withNumber(id, known.number)
	}
	h.calls = append(h.calls, numbered{number: known.number})
	if known.turn == h.turn {
		h.calls[known.latest].next = i
	} else {
		known.next = i
	}
	known.latest, known.turn = i, h.turn
	h.add(knownID{hash: Hash(unique), number: 1, turn: noTurn})
	return unique
}

// Result returns the id of the call that a result answers: of the calls with its id in the latest
// turn that has one, the first that no result has answered yet, or else the last.
func (h *History) Result(id []byte) []byte {
	known := h.find(Hash(id))
	if known == nil || known.turn == noTurn {
		return id
	}
	call := h.calls[known.next]
	if call.next > 0 {
		known.next = call.next
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
	end := len(id)
	for end > 0 && '0' <= id[end-1] && id[end-1] <= '9' {
		end--
	}
	if first, marked := bytes.CutSuffix(id[:end], []byte(repeatMark)); marked && len(first) > 0 && end < len(id) {
		return first
	}
	return id
}
