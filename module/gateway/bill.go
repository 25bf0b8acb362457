package gateway

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// bill is what an exchange is expected to use, and how much of it is known so
// far. All but the last two are tokens.
type bill struct {
	prompt   int64 // of the input, as estimated
	reserved int64 // of the input and all that the answer may have
	assumed  int64 // for each answer, where the client sets no bound; else 0
	earlier  int64 // what attempts used before another target was asked, as they said

	bytes int64 // of the answer that went to the client
	lines int64 // that those were, of a stream
}

// note counts what goes to the client.
func (b *bill) note(p []byte, streaming bool) {
	b.bytes += int64(len(p))
	if streaming {
		b.lines += int64(bytes.Count(p, []byte{'\n'}))
	}
}

// frame is about how many bytes of each line of a stream say nothing: an event of
// chat is two lines, of which the names of its members are 200 bytes.
const frame = 100

// relayed estimates the tokens of what went to the client. An event, of two lines
// or more, has one at least.
func (b *bill) relayed() int64 {
	return b.lines/2 + max(0, b.bytes-frame*b.lines)/messages.DefaultBytesPerToken
}

// usedTokens is what the exchange has used, as far as is known now that it is
// over.
func (s *sink) usedTokens() int64 {
	ex, a := s.ex, s.ex.Attempt
	if a == nil || ex.Attempts == 0 || ex.Operation == translate.CountTokens {
		return 0
	}
	return s.bill.earlier + s.cost(a)
}

// cost is what the last attempt has used. Where the provider has not said it to
// the end, that may be all that was reserved, and is what can be seen of it.
func (s *sink) cost(a *exchange.Attempt) int64 {
	said := saidTokens(a)
	if a.Finished && said > 0 || !s.content && unspent(a) {
		return said
	}
	return max(said, s.bill.reserved, s.bill.prompt+s.bill.relayed())
}

// mostPlausible is more than any model takes and gives.
const mostPlausible = 1 << 24

// saidTokens is what the provider says that a call has used so far; 0 where it
// says nothing, or nothing that can be: one wrong number must not lock a key.
func saidTokens(a *exchange.Attempt) int64 {
	if !a.Usage.Known {
		return 0
	}
	if n := a.Usage.Total(); n <= mostPlausible {
		return n
	}
	return 0
}

// unspent reports whether a failed attempt of which the client got nothing has
// used nothing but what the provider says: it was never sent, or was answered by
// something else than the beginning of an answer. Of one that got no whole answer
// in time, or whose connection broke off, nobody knows.
func unspent(a *exchange.Attempt) bool {
	switch a.Status {
	case 0:
		return a.Refused || !a.Sent
	case http.StatusOK:
		return a.Fault != nil && !a.Fault.Interrupted()
	}
	return true
}

// settle replaces what was reserved by what was used. Where the answer is whole
// that is done before its last bytes go out: a client that has read those may
// send its next request before this one has returned. The caller holds the lock.
func (s *sink) settle() {
	if s.ex.Reservation != nil && !s.settled {
		s.settled = true
		s.ex.Reservation.Settle(s.usedTokens())
	}
}

// release settles, and makes room for another request. The caller holds the lock.
func (s *sink) release() {
	s.settle()
	if s.ex.Reservation != nil {
		s.ex.Reservation.Release()
		s.ex.Reservation = nil
	}
}

// account counts bytes of the answer that are about to go out. Room for another
// request is made with the last of them, and no earlier: who reads a large answer
// slowly holds all of it in memory. The caller holds the lock.
func (s *sink) account(p []byte) {
	if s.ex.Reservation == nil {
		return
	}
	s.bill.note(p, s.ex.Streaming())
	if !s.ex.Attempt.Finished {
		return
	}
	s.settle()
	if s.ex.Streaming() || s.bill.bytes >= s.length() {
		s.release()
	}
}

// length is that of the answer, 0 where it is not known.
func (s *sink) length() int64 {
	n, _ := strconv.ParseInt(s.header.Get("Content-Length"), 10, 64)
	return n
}
