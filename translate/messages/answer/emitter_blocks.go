package answer

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// writtenBlock is the block that is being written.
type writtenBlock struct {
	kind   blockKind // unknownBlock for none
	part   int       // of its text or reasoning
	signed bool      // its thinking has a signature
	digest hash.Hash // of its thinking

	args    toolcall.Arguments
	held    []byte // arguments that were not written yet
	passing bool   // arguments are written immediately
}

var errCustom = errors.New("a custom tool call")

// open opens a block, after the end of the open one. head contains its members up to its
// content, "" for those that all blocks of the kind have.
func (m *Emitter) open(kind blockKind, part int, head string) {
	m.close()
	m.block.kind, m.block.part = kind, part
	if m.native != nil {
		head, m.native.head = m.native.head, ""
	}
	m.out.open(kind, cmp.Or(head, shapes[kind].head))
}

// close closes the open block, if there is one.
func (m *Emitter) close() {
	b := &m.block
	switch {
	case b.kind == thinkingBlock && !b.signed && m.native == nil:
		m.selfSign()
	case b.kind == toolUseBlock && !b.passing: // a call without arguments gets an empty object
		m.Fragment(toolcall.AppendArguments(nil, b.held, m.Ending.Reason == event.FinishLength))
	}
	if b.kind != unknownBlock {
		m.out.close()
	}
	b.kind = unknownBlock
}

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
	m.out.sign(signature)
	m.block.signed = true
}

// selfSign signs the open thinking block: clients do not send back thinking without a
// signature.
func (m *Emitter) selfSign() {
	var room [sha256.Size]byte
	digest := m.block.digest.Sum(room[:0])
	signature := append(make([]byte, 0, seal.SelfSignedSize), seal.SelfSigned...)
	m.out.sign(base64.RawURLEncoding.AppendEncode(signature, digest[:seal.SelfSignedDigest]))
}

// startTool begins a tool call. Its id is that of the provider, encoded if the format does
// not allow its characters, or a new one if the provider sent none.
func (m *Emitter) startTool(e *event.Event) {
	if e.Custom {
		m.Fail(errCustom)
		return
	}
	id := e.ID
	if len(id) == 0 {
		id = []byte(m.IDs.NewToolID())
	}
	head := jsonscan.AppendString([]byte(`{"type":"tool_use","id":`), m.calls.Show(id, toolcall.AppendID))
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
