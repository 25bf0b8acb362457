package answer

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// writtenBlock is the block that is being written.
type writtenBlock struct {
	kind   blockKind // unknownBlock for none
	part   int       // of its text or reasoning
	signed bool      // its thinking has a signature
	sealed []byte    // the signature, which a JSON body has at the end of the block
	digest hash.Hash // of its thinking

	args    toolcall.Arguments
	held    []byte // arguments that were not written yet
	passing bool   // arguments are written immediately
}

var errCustom = errors.New("a custom tool call")

// shapes contains the constant parts of the blocks that deltas fill.
var shapes = [...]struct {
	head  string // of a block without further members
	fill  string // the members that deltas fill, at the beginning of a stream's block
	open  string // of a JSON body: up to the content
	shut  string // of a JSON body: what follows the content
	delta string // up to the fragment
}{
	textBlock:     {`{"type":"text"`, `,"text":""`, `,"text":"`, `"`, `{"type":"text_delta","text":"`},
	thinkingBlock: {`{"type":"thinking"`, `,"thinking":"","signature":""`, `,"thinking":"`, `"`, `{"type":"thinking_delta","thinking":"`},
	toolUseBlock:  {``, `,"input":{}`, `,"input":`, ``, `{"type":"input_json_delta","partial_json":"`},
}

// open opens a block, after the end of the open one. head contains its members up to its
// content, "" for those that all blocks of the kind have.
func (m *Emitter) open(kind blockKind, part int, head string) {
	m.close()
	m.block.kind, m.block.part, m.block.sealed = kind, part, m.block.sealed[:0]
	if m.native != nil {
		head, m.native.head = m.native.head, ""
	}
	s, raw := &shapes[kind], kind == toolUseBlock
	if head = cmp.Or(head, s.head); m.Context.Stream {
		m.begin(head+s.fill+"}", singleanswer.Shape{Event: deltaOf(m.index, s.delta), Close: deltaEnd, Raw: raw})
	} else {
		m.begin("", singleanswer.Shape{Head: head + s.open, Tail: s.shut, Raw: raw})
	}
}

// close closes the open block, if there is one.
func (m *Emitter) close() {
	b := &m.block
	switch {
	case b.kind == unknownBlock:
		return
	case b.kind == thinkingBlock && !b.signed && m.native == nil:
		m.writeSignature(b.ownSignature())
	case b.kind == toolUseBlock && !b.passing: // a call without arguments gets an empty object
		m.Fragment(toolcall.AppendArguments(nil, b.held, m.Ending.Reason.CutsOff()))
	}
	m.Shut()
	if !m.Context.Stream {
		if b.kind == thinkingBlock {
			m.Written = jsonscan.AppendString(append(m.Written, `,"signature":`...), b.sealed)
		}
		m.Written = append(m.Written, '}')
	}
	b.kind = unknownBlock
	m.end()
}

// writeBlock writes a block that has no deltas.
func (m *Emitter) writeBlock(whole []byte) {
	m.begin(string(whole), singleanswer.Shape{Head: string(whole)})
	m.end()
}

// begin writes the beginning of a block. block is the whole object in the event of a stream.
func (m *Emitter) begin(block string, s singleanswer.Shape) {
	if m.Context.Stream {
		m.blockEvent("content_block_start", `,"content_block":`+block)
	}
	m.Open(s)
}

// end writes the end of a block, whose content is written.
func (m *Emitter) end() {
	m.Shut()
	if m.Context.Stream {
		m.blockEvent("content_block_stop", "")
	}
	m.index++
}

// appendEvent appends an event of a stream. members follow its type.
func appendEvent(dst []byte, name string, members ...string) []byte {
	dst = appendEventHead(dst, name)
	for _, member := range members {
		dst = append(dst, member...)
	}
	return append(dst, eventEnd...)
}

// appendEventHead appends the beginning of an event. Its members follow, and eventEnd.
func appendEventHead(dst []byte, name string) []byte {
	dst = append(append(dst, "event: "...), name...)
	return append(append(append(dst, "\ndata: {\"type\":\""...), name...), '"')
}

const eventEnd = "}\n\n"

// blockEvent writes an event about the open block. members follow its index.
func (m *Emitter) blockEvent(name, members string) {
	m.Written = appendEvent(m.Written, name, `,"index":`, strconv.Itoa(m.index), members)
}

// deltaOf returns the beginning of a delta of the block with an index.
func deltaOf(index int, kind string) string {
	return "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":` + strconv.Itoa(index) + `,"delta":` + kind
}

const deltaEnd = "\"}}\n\n"

// separator separates the parts of reasoning in one block.
var separator = []byte("\n\n")

// reasoning writes a fragment of reasoning.
func (m *Emitter) reasoning(e *event.Event) {
	if m.block.kind == thinkingBlock && m.block.part != e.Part {
		m.think(separator)
	}
	m.openThinking()
	m.block.part = e.Part
	m.think(e.Text)
}

func (m *Emitter) think(fragment []byte) {
	m.block.digest.Write(fragment)
	m.Fragment(fragment)
}

func (m *Emitter) openThinking() {
	if m.block.kind == thinkingBlock {
		return
	}
	m.open(thinkingBlock, m.block.part, "")
	m.block.signed = false
	if m.block.digest == nil {
		m.block.digest = sha256.New()
	}
	m.block.digest.Reset()
}

// sign writes the signature of the preceding thinking. Without any thinking, the block
// contains only the signature, which the format allows.
func (m *Emitter) sign(e *event.Event) {
	signature, ok := event.ClientSignature(m.Context, e)
	if !ok {
		m.Drop("reasoning.encrypted_content")
		return
	}
	m.openThinking()
	m.writeSignature(signature)
}

// Sign returns the event by which a provider signs the reasoning before it.
func Sign(signature []byte) event.Event { return event.Event{Kind: event.Signature, Text: signature} }

// ownSignature returns the gateway's signature of the thinking in the block: clients do not send
// back thinking without a signature.
func (b *writtenBlock) ownSignature() []byte {
	var room [sha256.Size]byte
	digest := b.digest.Sum(room[:0])
	signature := append(make([]byte, 0, seal.SelfSignedSize), seal.SelfSigned...)
	return base64.RawURLEncoding.AppendEncode(signature, digest[:seal.SelfSignedDigest])
}

// writeSignature writes a signature, which usually is the last delta of its block; thinking may
// follow.
func (m *Emitter) writeSignature(signature []byte) {
	m.block.signed = true
	if !m.Context.Stream {
		m.block.sealed = append(m.block.sealed[:0], signature...)
		return
	}
	m.Written = append(m.Written, deltaOf(m.index, `{"type":"signature_delta","signature":"`)...)
	m.Written = append(jsonscan.AppendEscaped(m.Written, signature), deltaEnd...)
}

// startTool begins a tool call. Its id is that of the provider, encoded if the format does
// not allow its characters, or a new one if the provider sent none.
func (m *Emitter) startTool(e *event.Event) {
	if e.Custom {
		m.Fail(errCustom)
		return
	}
	head := jsonscan.AppendString([]byte(`{"type":"tool_use","id":`), m.calls.Show(e.ID, m.IDs.NewToolID, toolcall.AppendID, m.Context.Input.Calls))
	head = jsonscan.AppendString(append(head, `,"name":`...), m.Context.Tools.Of(e.Name))
	m.open(toolUseBlock, 0, string(head))
	m.block.args, m.block.held, m.block.passing = toolcall.Arguments{}, m.block.held[:0], false
}

// addArguments writes arguments of the open call. Arguments that do not begin like an
// object are held until the end of the call, where they can become an object.
func (m *Emitter) addArguments(fragment []byte) {
	b := &m.block
	if b.passing {
		m.Fragment(fragment)
		return
	}
	b.args.Add(fragment)
	b.held = append(b.held, fragment...)
	switch {
	case m.Context.Stream && b.args.IsObject():
		b.passing = true
		m.Fragment(b.held)
	case len(b.held) > m.Context.Room():
		m.Fail(fmt.Errorf("more than %d bytes of arguments", m.Context.Room()))
	}
}
