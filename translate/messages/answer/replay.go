package answer

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Replay writes a whole JSON answer as the equivalent stream (wire format A.7.9). It
// keeps all members of the answer: texts, thinking, citations and inputs become deltas,
// blocks of other kinds are whole in the event that starts them, and unknown members of
// the message are in message_start. Replay returns a fault for an answer that is
// ambiguous or invalid, or that would take more than 16384 events.
func Replay(answer []byte, _ bool) ([]byte, *fault.Fault) {
	r := replay{cursor: jsonscan.New(answer), usage: []byte(`{"input_tokens":0,"output_tokens":0}`)}
	if err := r.read(); err != nil {
		return nil, fault.Unusable(err)
	}
	r.write()
	if r.err != nil {
		return nil, fault.Unusable(r.err)
	}
	return r.out, nil
}

// replay is an answer that is being turned into events. Its members are kept in JSON,
// each with a comma before it.
type replay struct {
	cursor jsonscan.Cursor
	err    error

	start   []byte // members of the message that begins
	stop    []byte // members of the delta in message_delta
	beside  []byte // other members of message_delta
	usage   []byte // the value
	content []byte // the array
	events  int
	out     []byte
}

// maxReplayed bounds the events of a replay: a few bytes of an answer, such as an empty
// citation, become an event.
const maxReplayed = 16384

var errReplayed = fmt.Errorf("blocks and citations for more than %d events", maxReplayed)

func (r *replay) read() error {
	c := &r.cursor
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoContent, c.Finish())
	}
	for c.Member() {
		r.member()
	}
	if err := c.Finish(); err != nil || r.content != nil {
		return err
	}
	return errNoContent
}

func (r *replay) member() {
	c := &r.cursor
	switch string(c.Name()) {
	case "content":
		r.content = c.ArrayOrSkip()
	case "usage":
		if object := c.Kind() == jsonscan.Object; object {
			r.usage = jsonscan.AppendCompact(nil, c.Skip())
			return
		}
		c.Skip()
	case "type", "error": // the replay is a message
		c.Skip()
	case "stop_reason", "stop_sequence", "stop_details", "container":
		r.start = append(jsonscan.AppendString(append(r.start, ','), c.Name()), ":null"...)
		r.stop = c.AppendMember(r.stop)
	case "context_management":
		r.beside = c.AppendMember(r.beside)
	default:
		r.start = c.AppendMember(r.start)
	}
}

func (r *replay) write() {
	r.event("message_start", `,"message":{"type":"message"`+string(r.start)+`,"content":[],"usage":`+string(r.usage)+"}")
	c := jsonscan.New(r.content)
	c.EnterArray()
	for index := 0; r.err == nil && c.Element(); index++ {
		r.block(`,"index":`+strconv.Itoa(index), c.Skip())
	}
	delta := `{}`
	if len(r.stop) > 0 {
		delta = "{" + string(r.stop[len(","):]) + "}"
	}
	r.event("message_delta", `,"delta":`+delta+string(r.beside)+`,"usage":`+string(r.usage))
	r.event("message_stop", "")
}

func (r *replay) event(name, members string) {
	if r.events++; r.events > maxReplayed {
		r.err = errReplayed
		return
	}
	r.out = sse.AppendEvent(r.out, name, []byte(`{"type":"`+name+`"`+members+"}"))
}

// block writes a block: its start, its deltas, its end.
func (r *replay) block(index string, raw []byte) {
	b := wholeBlock{kind: kindIn(raw)}
	if err := b.read(raw); err != nil {
		r.err = err
		return
	}
	r.event("content_block_start", index+`,"content_block":{"type":`+string(b.kind)+string(b.start)+"}")
	for _, delta := range b.deltas {
		r.event("content_block_delta", index+`,"delta":`+delta)
	}
	r.event("content_block_stop", index)
}

// kindIn returns the raw type of a block, nil for none.
func kindIn(block []byte) []byte {
	for name, value := range jsonscan.Members(block) {
		if string(name) == "type" {
			return value
		}
	}
	return nil
}

// wholeBlock is a block that is being turned into events.
type wholeBlock struct {
	kind   []byte
	start  []byte // members other than the type, empty if deltas add to them
	deltas []string
}

var (
	errNoBlock = errors.New("a block that is no object")
	errNoKind  = errors.New("a block without a type")
)

func (b *wholeBlock) read(raw []byte) error {
	c := jsonscan.New(raw)
	if !c.EnterObject() {
		return errNoBlock
	}
	if len(b.kind) <= len(`""`) || b.kind[0] != '"' {
		return errNoKind
	}
	for c.Member() {
		part, partial := parts[string(b.kind)+string(c.Name())]
		switch {
		case string(c.Name()) == "type":
			c.Skip()
		case partial && c.Kind() == part.kind:
			b.addEmpty(c.Name(), part)
			b.addDeltas(part, c.Skip())
		case partial && part.kind != jsonscan.Array && c.Null(): // a list that is null stays null
			b.addEmpty(c.Name(), part)
		default:
			b.start = c.AppendMember(b.start)
		}
	}
	return c.Finish()
}

// part describes a member that is empty at the start of a block, and the deltas that add
// to it.
type part struct {
	kind          jsonscan.Kind
	empty         string
	delta, member string
}

// parts lists the parts by the raw type of their block and the name of the member.
var parts = map[string]part{
	`"text"text`:             {jsonscan.String, `""`, "text_delta", "text"},
	`"text"citations`:        {jsonscan.Array, "[]", "citations_delta", "citation"},
	`"thinking"thinking`:     {jsonscan.String, `""`, "thinking_delta", "thinking"},
	`"thinking"signature`:    {jsonscan.String, `""`, "signature_delta", "signature"},
	`"tool_use"input`:        inputPart,
	`"server_tool_use"input`: inputPart,
	`"mcp_tool_use"input`:    inputPart,
}

var inputPart = part{jsonscan.Object, "{}", "input_json_delta", "partial_json"}

// addEmpty appends the empty member that deltas add to.
func (b *wholeBlock) addEmpty(name []byte, p part) {
	b.start = jsonscan.AppendString(append(b.start, ','), name)
	b.start = append(b.start, ":"+p.empty...)
}

// addDeltas appends the deltas of a value: one for a text or an input, and one for each
// element of a list.
func (b *wholeBlock) addDeltas(p part, value []byte) {
	switch p.kind {
	case jsonscan.Object:
		b.addDelta(p, jsonscan.AppendString(nil, jsonscan.AppendCompact(nil, value)))
	case jsonscan.Array:
		c := jsonscan.Again(value)
		c.EnterArray()
		for len(b.deltas) <= maxReplayed && c.Element() {
			b.addDelta(p, jsonscan.AppendCompact(nil, c.Skip()))
		}
	default:
		if len(value) > len(`""`) {
			b.addDelta(p, value)
		}
	}
}

func (b *wholeBlock) addDelta(p part, value []byte) {
	b.deltas = append(b.deltas, `{"type":"`+p.delta+`","`+p.member+`":`+string(value)+"}")
}
