package choices

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Chunks is how the chunks of a format differ from those of others.
type Chunks struct {
	Object  string // the value of object
	Deltas  bool   // what a choice says is in its member message or delta
	Nothing string // the members of a choice that says nothing and is the first
	Last    string // the members of the last chunk of a choice, before the reason
}

// Replay writes a whole JSON answer as the stream that it would have been (wire
// format A.7.9), for a client who asked for usage or did not. All that the answer
// says is kept, in chunks, but for a usage that the client did not ask for. An answer
// that cannot be read without doubt is a fault.
func (chunks *Chunks) Replay(answer []byte, usage bool) ([]byte, *fault.Fault) {
	r := replay{chunks: chunks, asked: usage, cursor: jsonscan.New(answer)}
	if err := r.read(); err != nil {
		return nil, fault.Unusable(err)
	}
	if len(r.turns) == 0 {
		return nil, fault.Unusable(errNoChoice)
	}
	numberByPlace(len(r.turns), func(i int) *int64 { return &r.turns[i].index })
	return r.write(), nil
}

// replay is an answer on its way into chunks. Members are kept as they are
// written to an object that has one before them: each begins with a comma.
type replay struct {
	chunks *Chunks
	asked  bool
	cursor jsonscan.Cursor

	head  []byte // the members that every chunk repeats
	more  []byte // the other ones, which the first chunk has
	usage []byte // the value; nil for none
	turns []wholeTurn
	parts int // choices and tool calls, for each of which there are chunks
	err   error
	out   []byte
}

// wholeTurn is one choice.
type wholeTurn struct {
	index    int64
	begin    []byte   // members of its first chunk
	said     bool     // those have what the choice says
	calls    [][]byte // members of its tool calls, which get a chunk each
	end      []byte   // members of its last chunk
	finished bool     // those have why it ended
}

// What a few bytes of an answer can become is bounded.
const (
	// maxHead bounds what every chunk repeats, in bytes: names of some ten bytes
	// each, as a rule.
	maxHead = 1024
	// maxParts bounds the choices and the calls of an answer, all of them together.
	maxParts = maxChoices
)

var (
	errHead    = fmt.Errorf("an id, a model and the like of more than %d bytes", maxHead)
	errParts   = fmt.Errorf("more than %d choices and tool calls", maxParts)
	errMessage = errors.New("a message that is no object, or two of them")
)

func (r *replay) read() error {
	c := &r.cursor
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		r.member()
	}
	if err := c.Finish(); err != nil {
		return err
	}
	return r.err
}

// fail keeps the first error.
func (r *replay) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// count counts a part. It reports false where there are too many.
func (r *replay) count() bool {
	if r.parts++; r.parts > maxParts {
		r.fail(errParts)
	}
	return r.parts <= maxParts
}

func (r *replay) member() {
	c := &r.cursor
	switch string(c.Name()) {
	case "choices":
		r.list()
	case "usage":
		if !c.Null() {
			r.usage = c.Skip()
		}
	case "object", "error": // another word, and none that some clients take for an error
		c.Skip()
	case "id", "created", "model", "system_fingerprint", "service_tier":
		if r.head = c.AppendMember(r.head); len(r.head) > maxHead {
			r.fail(errHead)
		}
	default:
		r.more = c.AppendMember(r.more)
	}
}

func (r *replay) list() {
	c := &r.cursor
	for c.OpenArray(); c.Element(); {
		if c.Kind() != jsonscan.Object || !r.count() {
			c.Skip()
			continue
		}
		r.turn()
	}
}

// turn reads a choice. Why it ended is told by its last chunk.
func (r *replay) turn() {
	c := &r.cursor
	t := wholeTurn{index: int64(len(r.turns))}
	c.EnterObject()
	for c.Member() {
		switch name := string(c.Name()); {
		case name == "index":
			t.index = Count(c)
		case name == "finish_reason" || name == "stop_reason":
			t.finished = t.finished || name == "finish_reason"
			t.end = c.AppendMember(t.end)
		case r.chunks.Deltas && (name == "message" || name == "delta"):
			r.message(&t)
		case name == "text" && c.Null(): // clients add texts up, and cannot add null
		default:
			t.said = t.said || name == "text"
			t.begin = c.AppendMember(t.begin)
		}
	}
	r.turns = append(r.turns, t)
}

// message makes a delta of the message. A client needs a role to begin with.
func (r *replay) message(t *wholeTurn) {
	c := &r.cursor
	if c.Null() {
		return
	}
	if t.said || !c.EnterObject() {
		c.Skip()
		r.fail(errMessage)
		return
	}
	role, rest := []byte(`"assistant"`), []byte(nil)
	for c.Member() {
		switch name := string(c.Name()); {
		case name == "role":
			if !c.Null() {
				role = c.Skip()
			}
		case name == "tool_calls" && c.EnterArray():
			r.toolCalls(t)
		default:
			rest = c.AppendMember(rest)
		}
	}
	t.said = true
	t.begin = append(append(t.begin, `,"delta":{"role":`...), role...)
	t.begin = append(append(t.begin, rest...), '}')
}

// toolCalls reads calls. In a chunk a call has an index, which is its place.
func (r *replay) toolCalls(t *wholeTurn) {
	c := &r.cursor
	for c.Element() {
		if c.Kind() != jsonscan.Object || !r.count() {
			c.Skip()
			continue
		}
		var call []byte
		c.EnterObject()
		for c.Member() {
			if string(c.Name()) == "index" {
				c.Skip()
				continue
			}
			call = c.AppendMember(call)
		}
		t.calls = append(t.calls, call)
	}
}

// write writes the choices one after the other.
func (r *replay) write() []byte {
	for i := range r.turns {
		t := &r.turns[i]
		r.chunk(t, t.first(r.chunks)+noReason)
		for n, call := range t.calls {
			r.chunk(t, `,"delta":{"tool_calls":[{"index":`+strconv.Itoa(n)+string(call)+`}]}`+noReason)
		}
		r.chunk(t, t.last(r.chunks))
	}
	if r.asked && r.usage != nil {
		r.event("", r.usage)
	}
	return append(r.out, "data: [DONE]\n\n"...)
}

const noReason = `,"finish_reason":null`

// first are the members of the first chunk. One that says nothing says so:
// clients read what is said without looking whether it is there.
func (t *wholeTurn) first(chunks *Chunks) string {
	if t.said {
		return string(t.begin)
	}
	return string(t.begin) + chunks.Nothing
}

// last are the members of the last chunk.
func (t *wholeTurn) last(chunks *Chunks) string {
	members := chunks.Last + string(t.end)
	if t.finished {
		return members
	}
	return members + noReason
}

// chunk writes a chunk of one choice.
func (r *replay) chunk(t *wholeTurn, members string) {
	r.event(`{"index":`+strconv.FormatInt(t.index, 10)+members+"}", []byte("null"))
	r.more = nil
}

func (r *replay) event(choice string, usage []byte) {
	data := `{"object":"` + r.chunks.Object + `"` + string(r.head) + string(r.more) + `,"choices":[` + choice + "]"
	if r.asked {
		data += `,"usage":` + string(jsonscan.AppendCompact(nil, usage))
	}
	r.out = sse.AppendEvent(r.out, "", []byte(data+"}"))
}
