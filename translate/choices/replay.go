package choices

import (
	"errors"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Replay writes a whole JSON answer of the format as the stream that it would
// have been (wire format A.7.9), for a client who asked for usage or did not.
// All that the answer says is kept, in chunks, but for a usage that the client
// did not ask for. An answer that cannot be read without doubt is a fault.
func Replay(format translate.Format, answer []byte, usage bool) ([]byte, *translate.Fault) {
	r := replay{format: format, asked: usage, cursor: jsonscan.New(answer)}
	if err := r.read(); err != nil {
		return nil, translate.Unusable(err)
	}
	if len(r.turns) == 0 {
		return nil, translate.Unusable(errNoChoice)
	}
	numberByPlace(len(r.turns), func(i int) *int64 { return &r.turns[i].index })
	return r.write(), nil
}

// replay is an answer on its way into chunks. Members are kept as they are
// written to an object that has one before them: each begins with a comma.
type replay struct {
	format translate.Format
	asked  bool
	cursor jsonscan.Cursor

	head  []byte // the members that every chunk repeats
	more  []byte // the other ones, which the first chunk has
	usage []byte // the value; nil for none
	turns []wholeTurn
	out   []byte
}

// wholeTurn is one choice.
type wholeTurn struct {
	index int64
	begin []byte   // members of its first chunk
	calls [][]byte // members of its tool calls, which get a chunk each
	end   []byte   // members of its last chunk
}

func (r *replay) read() error {
	c := &r.cursor
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		r.member()
	}
	return c.Finish()
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
		r.head = c.AppendMember(r.head)
	default:
		r.more = c.AppendMember(r.more)
	}
}

func (r *replay) list() {
	c := &r.cursor
	if !c.EnterArray() {
		c.Skip()
		return
	}
	for c.Element() {
		if !c.EnterObject() {
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
	for c.Member() {
		switch string(c.Name()) {
		case "index":
			t.index = Count(c)
		case "finish_reason", "stop_reason":
			t.end = c.AppendMember(t.end)
		case "message":
			t.message(c)
		default:
			t.begin = c.AppendMember(t.begin)
		}
	}
	r.turns = append(r.turns, t)
}

// message makes a delta of the message. A client needs a role to begin with.
func (t *wholeTurn) message(c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
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
			t.toolCalls(c)
		default:
			rest = c.AppendMember(rest)
		}
	}
	t.begin = append(append(t.begin, `,"delta":{"role":`...), role...)
	t.begin = append(append(t.begin, rest...), '}')
}

// toolCalls reads calls. In a chunk a call has an index, which is its place.
func (t *wholeTurn) toolCalls(c *jsonscan.Cursor) {
	for c.Element() {
		if !c.EnterObject() {
			c.Skip()
			continue
		}
		var call []byte
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
		r.chunk(t, string(t.begin)+`,"finish_reason":null`)
		for n, call := range t.calls {
			r.chunk(t, `,"delta":{"tool_calls":[{"index":`+strconv.Itoa(n)+string(call)+`}]},"finish_reason":null`)
		}
		r.chunk(t, emptyContent[r.format]+string(t.end))
	}
	if r.asked && r.usage != nil {
		r.event("", r.usage)
	}
	return append(r.out, "data: [DONE]\n\n"...)
}

var (
	chunkObject  = map[translate.Format]string{translate.Chat: "chat.completion.chunk", translate.Completions: "text_completion"}
	emptyContent = map[translate.Format]string{translate.Chat: `,"delta":{}`, translate.Completions: `,"text":"","logprobs":null`}
)

// chunk writes a chunk of one choice.
func (r *replay) chunk(t *wholeTurn, members string) {
	r.event(`{"index":`+strconv.FormatInt(t.index, 10)+members+"}", []byte("null"))
	r.more = nil
}

func (r *replay) event(choice string, usage []byte) {
	data := `{"object":"` + chunkObject[r.format] + `"` + string(r.head) + string(r.more) + `,"choices":[` + choice + "]"
	if r.asked {
		data += `,"usage":` + string(jsonscan.AppendCompact(nil, usage))
	}
	r.out = sse.AppendEvent(r.out, "", []byte(data+"}"))
}
