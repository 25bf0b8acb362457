package openai

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Chunks describes the chunks of a format.
type Chunks struct {
	Object string // the value of object
	Deltas bool   // the content of a choice is in its member message or delta
	Empty  string // the members of an empty choice in its first chunk
	Last   string // the members of the last chunk of a choice, before the reason
}

// Replay writes a whole JSON answer as the equivalent stream (wire format A.7.9). It
// keeps all members of the answer; usage reports whether the client asked for the usage
// chunk. Replay returns a fault for an answer that is ambiguous or invalid.
func (chunks *Chunks) Replay(answer []byte, usage bool) ([]byte, *fault.Fault) {
	r := replay{chunks: chunks, asked: usage, cursor: jsonscan.New(answer)}
	if err := r.read(); err != nil {
		return nil, fault.Unusable(err)
	}
	if len(r.choices) == 0 {
		return nil, fault.Unusable(errNoChoice)
	}
	numberByPosition(len(r.choices), func(i int) *int64 { return &r.choices[i].index })
	return r.write(), nil
}

// replay is an answer that is being turned into chunks. Its members are kept in JSON,
// each with a comma before it.
type replay struct {
	chunks *Chunks
	asked  bool
	cursor jsonscan.Cursor

	head    []byte // the members that every chunk repeats
	more    []byte // the other ones, which the first chunk has
	usage   []byte // the value; nil for none
	choices []wholeChoice
	parts   int // choices and tool calls, for each of which there are chunks
	err     error
	out     []byte
}

// wholeChoice is one choice.
type wholeChoice struct {
	index      int64
	begin      []byte   // members of its first chunk
	hasContent bool     // begin contains the content of the choice
	calls      [][]byte // members of its tool calls, which get a chunk each
	end        []byte   // members of its last chunk
	finished   bool     // end contains the finish_reason
}

// The bounds of a replay: a few bytes of an answer may become a long chunk.
const (
	// maxHead bounds the members that every chunk repeats, in bytes. They are usually
	// names of some ten bytes each.
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

// count counts a part. It reports false if there are too many.
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
		r.choice()
	}
}

// choice reads a choice. The finish_reason is kept for the last chunk.
func (r *replay) choice() {
	c := &r.cursor
	t := wholeChoice{index: int64(len(r.choices))}
	c.EnterObject()
	for c.Member() {
		switch name := string(c.Name()); {
		case name == "index":
			t.index = token.CountOf(c.Skip())
		case name == "finish_reason" || name == "stop_reason":
			t.finished = t.finished || name == "finish_reason"
			t.end = c.AppendMember(t.end)
		case r.chunks.Deltas && (name == "message" || name == "delta"):
			r.message(&t)
		case name == "text" && c.Null(): // clients add texts up, and cannot add null
		default:
			t.hasContent = t.hasContent || name == "text"
			t.begin = c.AppendMember(t.begin)
		}
	}
	r.choices = append(r.choices, t)
}

// message turns a message into a delta. The first delta always has a role.
func (r *replay) message(t *wholeChoice) {
	c := &r.cursor
	if c.Null() {
		return
	}
	if t.hasContent || !c.EnterObject() {
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
	t.hasContent = true
	t.begin = append(append(t.begin, `,"delta":{"role":`...), role...)
	t.begin = append(append(t.begin, rest...), '}')
}

// toolCalls reads calls. In chunks, each call gets its position as an index.
func (r *replay) toolCalls(t *wholeChoice) {
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
	for i := range r.choices {
		t := &r.choices[i]
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

// first returns the members of the first chunk. The content of an empty choice is an
// empty text, since clients read the content without checking that it exists.
func (t *wholeChoice) first(chunks *Chunks) string {
	if t.hasContent {
		return string(t.begin)
	}
	return string(t.begin) + chunks.Empty
}

// last returns the members of the last chunk.
func (t *wholeChoice) last(chunks *Chunks) string {
	members := chunks.Last + string(t.end)
	if t.finished {
		return members
	}
	return members + noReason
}

// chunk writes a chunk of one choice.
func (r *replay) chunk(t *wholeChoice, members string) {
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

// numberByPosition numbers the n choices of a whole answer by their position if two have
// the same index: some servers give index 0 to all of them.
func numberByPosition(n int, index func(i int) *int64) {
	seen := make(map[int64]bool, n)
	for i := range n {
		seen[*index(i)] = true
	}
	for i := 0; i < n && len(seen) < n; i++ {
		*index(i) = int64(i)
	}
}
