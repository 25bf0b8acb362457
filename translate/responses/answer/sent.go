package answer

import (
	"hash/maphash"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// sent passes the core events of an answer on, and keeps what later events depend on. It
// sends Start before the first event with content, for servers that do not announce a
// response.
type sent struct {
	next       event.Handler
	usage      *token.Usage
	started    bool
	characters int   // of text
	part       *part // of the texts that follow, nil for none
}

// Handle passes an event on.
func (s *sent) Handle(e *event.Event) {
	switch e.Kind {
	case event.Start:
		s.started = true
	case event.Native, event.Error:
	default:
		if !s.started {
			s.started = true
			s.next.Handle(&event.Event{Kind: event.Start, Usage: s.usage})
		}
	}
	switch e.Kind {
	case event.Text:
		s.characters += utf8.RuneCount(e.Text)
		s.part.add(e.Text)
	case event.Reasoning, event.ToolArgs:
		s.part.add(e.Text)
	}
	s.next.Handle(e)
}

// part is the part of an item's text that was sent.
type part struct {
	index   int64
	sent    int          // bytes
	hash    maphash.Hash // of the bytes sent
	checked int          // the value of sent when it was last compared with the whole text
	from    int          // characters of all text before the part
	sources int          // annotations seen
	scored  bool         // log probabilities were sent
}

// seed is the seed of the hashes by which texts that were sent are recognized.
var seed = maphash.MakeSeed()

func newPart(index int64, from int) *part {
	pt := &part{index: index, from: from}
	pt.hash.SetSeed(seed)
	return pt
}

// add adds a text that was sent. A nil part ignores it.
func (pt *part) add(text []byte) {
	if pt != nil {
		pt.sent += len(text)
		pt.hash.Write(text)
	}
}

// rest returns the part of a whole text that was not sent. ok is false for a whole text that
// does not begin with what was sent.
func (pt *part) rest(whole []byte) (rest []byte, ok bool) {
	if len(whole) < pt.sent || maphash.Bytes(seed, whole[:pt.sent]) != pt.hash.Sum64() {
		return nil, false
	}
	return whole[pt.sent:], true
}
