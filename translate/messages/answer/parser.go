package answer

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer of the format into core events, a stream (wire format
// D.5) as well as a JSON body. Unlike an observer, a Parser refuses an answer that it
// cannot read, since such an answer cannot be translated.
type Parser struct {
	translate.Dropped

	handler event.Handler
	cursor  jsonscan.Cursor // a field, so that an event costs no allocation
	event   event.Event
	text    []byte // memory of decoded texts

	read       reading             // the current event
	template   template            // of the last delta
	sent       int                 // core events of the current event
	texts      int                 // text blocks that have begun
	blocks     map[int64]openBlock // by index
	tools      int                 // tool calls seen
	cited      int                 // bytes of sources
	characters int                 // of text that was sent
	counts     token.Report        // of the last usage objects
	usage      token.Usage
	tier       event.Tier
	begun      bool // an event was sent
	finished   bool // the stop_reason is known
	over       bool // all later events are ignored
}

// openBlock is a block of the stream that has not ended.
type openBlock struct {
	kind    blockKind
	tool    int
	args    bool // arguments were sent
	from    int  // characters of text before the block
	part    int  // text blocks before the block
	sources []event.Citation
}

var (
	errNothing  = errors.New("an end without a beginning")
	errTwice    = errors.New("a block that was begun twice")
	errNoObject = errors.New("no JSON object")
	errOpen     = fmt.Errorf("more than %d blocks without an end", maxOpen)
)

// maxOpen bounds the blocks that are open at the same time. Most servers end a block
// before they begin the next one.
const maxOpen = 4096

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	return &Parser{handler: h, blocks: make(map[int64]openBlock, 4)}
}

// Finished reports whether the stop reason of the only turn is known.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices returns 1, the number of choices of every answer.
func (p *Parser) Choices() int { return 1 }

// Event reads the next event of a stream.
func (p *Parser) Event(event sse.Event) {
	if p.over || p.repeats(event) {
		return
	}
	if len(event.Name) > 0 && ignored(event.Name) {
		p.dropEvent(event.Name)
		return
	}
	p.template.data.Forget()
	p.sent = 0
	switch string(event.Name) {
	case "error", "message_stop": // the data need not be read
		p.step(string(event.Name), event.Data)
		return
	}
	dropped := p.Dropped
	if err := p.readEvent(event); err != nil {
		p.fail(fault.Unusable(err))
		return
	}
	name := event.Name
	if len(name) == 0 {
		name = p.read.name(&p.text)
	}
	if string(name) == "error" {
		p.Dropped = dropped // the members around an error are not part of an answer
	}
	p.step(string(name), event.Data)
	if string(name) == "content_block_delta" {
		p.remember(event)
	}
}

// ignored reports whether events of that name are ignored, whatever their data.
func ignored(name []byte) bool {
	switch string(name) {
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop", "error":
		return false
	default:
		return true
	}
}

// step sends the core events of an event.
func (p *Parser) step(name string, data []byte) {
	switch name {
	case "message_start":
		p.messageStart()
	case "content_block_start":
		p.blockStart()
	case "content_block_delta":
		p.blockDelta()
	case "content_block_stop":
		p.blockStop()
	case "message_delta":
		p.messageDelta()
	case "message_stop":
		p.end()
	case "error":
		p.fail(Dialect.ReadEvent(data))
	case "":
		p.fail(fault.Unusable(errNoType))
	default:
		p.dropEvent([]byte(name))
	}
}

// dropEvent reports an unknown event as dropped, unless it is a ping.
func (p *Parser) dropEvent(name []byte) {
	if string(name) != "ping" {
		p.DropNamed("event.", name)
	}
}

// End ends the body of a stream.
func (p *Parser) End(clean bool) {
	switch {
	case p.over:
	case clean && p.finished:
		p.end()
	default:
		p.fail(fault.Truncated(nil))
	}
}

// end ends a complete answer. An answer that never began is a fault.
func (p *Parser) end() {
	if !p.begun {
		p.fail(fault.Unusable(errNothing))
		return
	}
	p.dropSources()
	p.send(event.Event{Kind: event.End})
	p.over = true
}

func (p *Parser) fail(fault *fault.Fault) {
	p.send(event.Event{Kind: event.Error, Fault: fault})
	p.over = true
}

func (p *Parser) send(e event.Event) {
	p.begun = true
	p.sent++
	if e.Kind == event.Text {
		p.characters += utf8.RuneCount(e.Text)
	}
	p.event = e
	p.handler.Handle(&p.event)
}

// sendText sends an event whose text is the raw string, unless that is empty.
func (p *Parser) sendText(e event.Event, raw []byte) {
	if len(raw) <= len(`""`) {
		return
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	e.Text = p.text
	p.send(e)
}

func (p *Parser) messageStart() {
	p.tier = p.read.tierOr(p.tier)
	p.send(event.Event{
		Kind: event.Start, Model: jsonscan.AppendText(nil, p.read.model), Usage: &p.usage, Tier: p.tier,
	})
	p.sendUsage()
}

func (p *Parser) sendUsage() {
	if p.usage.Known {
		p.send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: p.tier})
	}
}

// blockStart begins a block. Texts and thinking usually begin empty.
func (p *Parser) blockStart() {
	b := &p.read.block
	if _, known := p.blocks[p.read.index]; known {
		p.fail(fault.Unusable(errTwice))
		return
	}
	if len(p.blocks) == maxOpen {
		p.fail(fault.Unusable(errOpen))
		return
	}
	state := p.begin(b)
	switch state.kind {
	case textBlock:
		p.sendText(event.Event{Kind: event.Text, Part: state.part}, b.text)
	case thinkingBlock:
		p.sendText(event.Event{Kind: event.Reasoning}, b.thinking)
		p.sendText(event.Event{Kind: event.Signature}, b.signature)
	case redactedThinkingBlock:
		p.sendText(event.Event{Kind: event.Redacted}, b.data)
	case toolUseBlock:
		state.tool = p.startTool(b)
		state.args = p.sendInput(state.tool, b.input)
	default:
		p.Drop(lostBlock)
	}
	p.citeAll(&state, b.citations)
	p.blocks[p.read.index] = state
}

// begin returns the state of a new block.
func (p *Parser) begin(b *content) openBlock {
	state := openBlock{kind: b.kindOf(), from: p.characters, part: p.texts}
	if state.kind == textBlock {
		p.texts++
	}
	return state
}

// startTool sends the start of a call and returns its ordinal.
func (p *Parser) startTool(b *content) int {
	tool := p.tools
	p.tools++
	p.send(event.Event{
		Kind: event.ToolStart, Tool: tool,
		ID: jsonscan.AppendText(nil, b.id), Name: jsonscan.AppendText(nil, b.name),
	})
	return tool
}

// sendInput sends the input of the start of a call, and reports whether there is any. An
// empty object, or null, only announces the deltas.
func (p *Parser) sendInput(tool int, input []byte) bool {
	if jsonscan.Blank(input) {
		return false
	}
	p.text = jsonscan.AppendCompact(p.text[:0], input)
	p.send(event.Event{Kind: event.ToolArgs, Tool: tool, Text: p.text})
	return true
}

// blockDelta sends the events of a delta. Deltas of unknown kinds, and texts of a wrong
// kind for their block, are dropped.
func (p *Parser) blockDelta() {
	d := &p.read.delta
	if !d.known() {
		p.DropNamed(inBlock, d.name())
		return
	}
	state, known := p.blocks[p.read.index]
	if !jsonscan.Blank(d.citation) {
		p.cite(&state, d.citation)
		if known {
			p.blocks[p.read.index] = state
		}
	}
	switch {
	case known && state.kind == toolUseBlock:
		p.dropText("text", d.text)
		p.dropText("thinking", d.thinking)
		if len(d.json) > len(`""`) {
			p.sendText(event.Event{Kind: event.ToolArgs, Tool: state.tool}, d.json)
			state.args = true
			p.blocks[p.read.index] = state
		}
	case !known || state.kind == textBlock || state.kind == thinkingBlock:
		p.dropText("partial_json", d.json)
		p.sendText(event.Event{Kind: event.Text, Part: state.part}, d.text)
		p.sendText(event.Event{Kind: event.Reasoning}, d.thinking)
		p.sendText(event.Event{Kind: event.Signature}, d.signature)
	}
}

// The parts of answers that the core events cannot express.
const (
	lostBlock    = "content.*"
	lostReason   = "stop_reason"
	lostCategory = inStops + "category"
)

// dropText reports a fragment of a wrong kind for its block as dropped.
func (p *Parser) dropText(member string, raw []byte) {
	if len(raw) > len(`""`) {
		p.Drop(inBlock + member)
	}
}

func (p *Parser) blockStop() {
	state := p.blocks[p.read.index]
	delete(p.blocks, p.read.index)
	switch state.kind {
	case textBlock:
		p.sendSources(&state)
	case thinkingBlock:
		p.send(event.Event{Kind: event.ReasoningEnd})
	case toolUseBlock:
		p.endTool(state.tool, state.args)
	}
}

// endTool ends a call. A call without arguments gets an empty object.
func (p *Parser) endTool(tool int, args bool) {
	if !args {
		p.send(event.Event{Kind: event.ToolArgs, Tool: tool, Text: emptyObject})
	}
	p.send(event.Event{Kind: event.ToolEnd, Tool: tool})
}

var emptyObject = []byte("{}")

func (p *Parser) messageDelta() {
	p.tier = p.read.tierOr(p.tier)
	p.finish(p.read.delta.reason, p.read.delta.stop, p.read.delta.explanation)
	if p.read.hasUsage {
		p.sendUsage()
	}
}

// finish sends the reason why the turn ended, if there is one. A later reason replaces an
// earlier one.
func (p *Parser) finish(reason, stop, explanation []byte) {
	if reason == nil {
		return
	}
	p.finished = true
	word := ReadStopReason(string(jsonscan.AppendText(nil, reason)))
	if word == event.FinishUnknown {
		p.Drop(lostReason)
	}
	p.text = jsonscan.AppendText(p.text[:0], explanation)
	p.send(event.Event{
		Kind:   event.Finish,
		Finish: word,
		Stop:   jsonscan.AppendText(nil, stop),
		Text:   p.text,
	})
}
