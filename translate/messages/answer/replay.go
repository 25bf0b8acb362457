package answer

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Replay writes a whole JSON answer as the stream that it would have been (wire
// format A.7.9). All that the answer says is kept: texts, thinking, citations
// and inputs are deltas, blocks of other kinds stand whole in the event that
// starts them, and members that are not known in the one that starts the
// message. An answer that cannot be read without doubt is a fault, and so is one
// of more than 16384 events.
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

// replay is an answer on its way into events. Members are kept as they are
// written to an object that has one before them: each begins with a comma.
type replay struct {
	cursor jsonscan.Cursor
	err    error

	start   []byte // members of the message that begins
	stop    []byte // members of the delta that ends it, and
	beside  []byte // members beside that
	usage   []byte // the value
	content []byte // the array
	events  int
	out     []byte
}

// maxReplayed bounds the events of a stream that was a JSON answer: a few bytes
// of the answer, such as those of an empty citation, become one.
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
	case "type", "error": // it is a message
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

// kindIn is the type of a block as it is written, nil for none.
func kindIn(block []byte) []byte {
	for name, value := range jsonscan.Members(block) {
		if string(name) == "type" {
			return value
		}
	}
	return nil
}

// wholeBlock is a block on its way into events.
type wholeBlock struct {
	kind   []byte
	start  []byte // members beside the type, without what comes in deltas
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
			b.begin(c.Name(), part)
			b.divide(part, c.Skip())
		case partial && part.kind != jsonscan.Array && c.Null(): // of a list, null is the usual word for none
			b.begin(c.Name(), part)
		default:
			b.start = c.AppendMember(b.start)
		}
	}
	return c.Finish()
}

// part is a member that a block begins without, and the delta that adds it.
type part struct {
	kind          jsonscan.Kind
	empty         string
	delta, member string
}

// parts are all of them, by the block's type as it is written and their name.
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

// begin adds the empty member that deltas add to.
func (b *wholeBlock) begin(name []byte, p part) {
	b.start = jsonscan.AppendString(append(b.start, ','), name)
	b.start = append(b.start, ":"+p.empty...)
}

// divide makes deltas of a value: one of a text or an input, one for each item
// of a list.
func (b *wholeBlock) divide(p part, value []byte) {
	switch p.kind {
	case jsonscan.Object:
		b.add(p, jsonscan.AppendString(nil, jsonscan.AppendCompact(nil, value)))
	case jsonscan.Array:
		c := jsonscan.Again(value)
		c.EnterArray()
		for len(b.deltas) <= maxReplayed && c.Element() {
			b.add(p, jsonscan.AppendCompact(nil, c.Skip()))
		}
	default:
		if len(value) > len(`""`) {
			b.add(p, value)
		}
	}
}

func (b *wholeBlock) add(p part, value []byte) {
	b.deltas = append(b.deltas, `{"type":"`+p.delta+`","`+p.member+`":`+string(value)+"}")
}
