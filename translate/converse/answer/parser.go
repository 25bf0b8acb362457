package answer

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer of the format into core events, a stream as well as a JSON body. The
// usage follows the reason for the end of a stream, and is its last event.
type Parser struct {
	singleanswer.Parser
	whole, part members.Values
	open        []openBlock // in the order of their beginnings
}

// openBlock is a block of a stream that has not ended.
type openBlock struct {
	index int64
	item  singleanswer.Item
	image []byte // the format of an image, "" for a block of another kind
}

// maxOpen bounds the blocks that are open at the same time.
const maxOpen = 256

var (
	errPart     = errors.New("a part of an unknown kind")
	errNameless = errors.New("a tool call without a name")
	errTwice    = errors.New("a block that was begun twice")
	errOpen     = fmt.Errorf("more than %d blocks without an end", maxOpen)
	errNoCall   = errors.New("arguments outside of a call")
	errContent  = errors.New("an answer without content")
	errReason   = errors.New("an answer without a reason for its end")
)

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	p := &Parser{}
	p.Init(&words, h)
	return p
}

// Event reads the next event of a stream.
func (p *Parser) Event(e sse.Event) {
	if p.Events.Over() || p.Events.Repeat(e.Name, e.Data) != nil {
		return
	}
	p.Events.Begin()
	if Dialect.IsError(string(e.Name), nil) {
		p.Events.Fail(Dialect.ReadEvent(e.Data))
		return
	}
	read := eventsByName[string(e.Name)]
	if read == nil {
		p.DropNamed("event.", e.Name)
		return
	}
	v := &p.whole
	c := jsonscan.New(e.Data)
	if p.Events.Refuse(v.ReadDocument(&c, events, &p.Dropped)); p.Events.Over() {
		return
	}
	if v.Unreadable() {
		p.Events.Refuse(errPart)
		return
	}
	read(p, token.CountOf(v.Raw(eventIndex)))
	p.Events.Learn(e, v.At(padding))
}

// eventsByName read the events of a stream that were read into whole. index is that of a block.
var eventsByName = map[string]func(p *Parser, index int64){
	"messageStart":      func(p *Parser, _ int64) { p.Start(nil, 0) },
	"contentBlockStart": (*Parser).blockStart,
	"contentBlockDelta": (*Parser).blockDelta,
	"contentBlockStop":  (*Parser).blockStop,
	"messageStop": func(p *Parser, _ int64) {
		for len(p.open) > 0 {
			p.blockStop(p.open[0].index)
		}
		p.finish(eventReason, eventStop)
	},
	"metadata": (*Parser).metadata,
}

// find returns the position of an open block, -1 for none.
func (p *Parser) find(index int64) int {
	for i := range p.open {
		if p.open[i].index == index {
			return i
		}
	}
	return -1
}

// begin begins a block.
func (p *Parser) begin(index int64, item singleanswer.Item) *singleanswer.Item {
	if len(p.open) == maxOpen {
		p.Events.Refuse(errOpen)
	}
	p.open = append(p.open, openBlock{index: index, item: item})
	return &p.open[len(p.open)-1].item
}

// blockStart begins a call or an image. Blocks of other kinds begin with their first fragment.
func (p *Parser) blockStart(index int64) {
	v := &p.whole
	switch {
	case p.find(index) >= 0:
		p.Events.Refuse(errTwice)
	case v.Filled(startImage) != nil:
		p.begin(index, singleanswer.Item{})
		p.open[len(p.open)-1].image = bytes.Clone(jsonscan.DecodedOf(v.Raw(startImage)))
	case v.Raw(startName) == nil && v.Raw(startID) == nil:
	case v.Filled(startName) == nil:
		p.Events.Refuse(errNameless)
	default:
		p.begin(index, p.Events.OpenCall(v.Raw(startID), v.Raw(startName)))
	}
}

// blockDelta sends a fragment of a block.
func (p *Parser) blockDelta(index int64) {
	v := &p.whole
	p.fragment(index, event.Text, deltaText)
	p.fragment(index, event.Reasoning, thinkText)
	p.fragment(index, event.ToolArgs, deltaInput)
	if v.Filled(thinkSign) != nil {
		it := p.item(index, event.Reasoning)
		p.Events.SendText(event.Event{Kind: event.Signature}, v.Raw(thinkSign), jsonscan.Slot{})
		p.Events.Close(it) // what follows is not signed
	}
	p.Events.SendText(event.Event{Kind: event.Redacted}, v.Raw(thinkSealed), jsonscan.Slot{})
	if v.Filled(deltaImage) != nil {
		var kind []byte
		if i := p.find(index); i >= 0 {
			kind = p.open[i].image
		}
		p.image(kind, v.Raw(deltaImage))
	}
}

// image sends an image by its format and its raw data.
func (p *Parser) image(kind, data []byte) {
	const path = inContent + "image"
	p.Events.SendMedia(event.NewMedia(append([]byte("image/"), kind...), jsonscan.DecodedOf(data), path), path, &p.Dropped)
}

// fragment sends a fragment of a kind, if the event has one.
func (p *Parser) fragment(index int64, kind event.Kind, m members.Member) {
	if raw := p.whole.Filled(m); raw != nil {
		p.Events.Add(p.item(index, kind), raw, p.whole.At(m))
	}
}

// item returns the item of a block for a fragment of a kind. A block that changes its kind
// becomes two items.
func (p *Parser) item(index int64, kind event.Kind) *singleanswer.Item {
	i := p.find(index)
	switch {
	case i >= 0 && p.open[i].item.Kind == kind:
		return &p.open[i].item
	case kind == event.ToolArgs || i >= 0 && p.open[i].item.Kind == event.ToolArgs:
		p.Events.Refuse(errNoCall)
		return &singleanswer.Item{}
	case i >= 0:
		return p.Events.Switch(&p.open[i].item, kind)
	}
	return p.begin(index, p.Events.Open(kind))
}

// blockStop ends a block.
func (p *Parser) blockStop(index int64) {
	if i := p.find(index); i >= 0 {
		p.Events.Close(&p.open[i].item)
		p.open = append(p.open[:i], p.open[i+1:]...)
	}
}

// finish sends the reason why the turn has ended.
func (p *Parser) finish(reason members.Member, stops [2]members.Member) {
	v := &p.whole
	word := v.Filled(reason)
	if word == nil {
		p.Events.Refuse(errReason)
		return
	}
	stop := v.Filled(stops[0])
	if stop == nil {
		stop = v.Filled(stops[1])
	}
	p.Finish(word, stop, nil)
}

// metadata sends the usage, and ends the answer if its reason is known.
func (p *Parser) metadata(int64) {
	p.count(eventUsage, eventTier)
	if p.Finished(1) {
		p.Events.Complete()
	}
}

// count reads and sends the usage and the tier.
func (p *Parser) count(usage, tier members.Member) {
	v := &p.whole
	if raw := v.Raw(tier); raw != nil {
		p.ReadTier(raw, "serviceTier.type")
		p.Report.Terms.ReadTier(raw)
	}
	p.Count(v, usage)
	p.SendUsage()
}

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	v := &p.whole
	c := jsonscan.New(body)
	switch err := v.ReadDocument(&c, answers, &p.Dropped); {
	case err != nil:
		p.Events.Refuse(err)
		return
	case v.Raw(contents) == nil && v.Filled(failure) != nil:
		p.Events.Fail(fault.ReadAnswer(body))
		return
	case v.Raw(contents) == nil, v.Unreadable():
		p.Events.Refuse(errContent)
		return
	}
	p.Start(nil, 0)
	list := v.Cursor(contents)
	for list.OpenArray(); list.Element() && !p.Events.Over(); {
		p.block(&list)
	}
	p.Events.Refuse(list.Err())
	p.finish(answerReason, answerStop)
	p.count(answerUsage, answerTier)
	p.Events.Complete()
}

// block reads a block of a JSON answer.
func (p *Parser) block(c *jsonscan.Cursor) {
	v := &p.part
	if !v.Read(c, block, &p.Dropped) || v.Unreadable() {
		p.Events.Refuse(errPart)
		return
	}
	if v.Raw(cited) != nil {
		citations := v.Cursor(cited)
		p.citing(&citations)
		return
	}
	if v.Filled(blockText) != nil {
		it := p.Events.Open(event.Text)
		p.Events.Add(&it, v.Raw(blockText), jsonscan.Slot{})
		p.Events.Close(&it)
	}
	if v.Filled(reasonText) != nil || v.Filled(reasonSign) != nil {
		it := p.Events.Open(event.Reasoning)
		p.Events.Add(&it, v.Raw(reasonText), jsonscan.Slot{})
		p.Events.SendText(event.Event{Kind: event.Signature}, v.Raw(reasonSign), jsonscan.Slot{})
		p.Events.Close(&it)
	}
	p.Events.SendText(event.Event{Kind: event.Redacted}, v.Raw(blockSealed), jsonscan.Slot{})
	if v.Filled(pictureType) != nil || v.Filled(pictureData) != nil {
		p.image(jsonscan.DecodedOf(v.Raw(pictureType)), v.Raw(pictureData))
	}
	if v.Raw(callName) == nil && v.Raw(callID) == nil {
		return
	}
	if v.Filled(callName) == nil {
		p.Events.Refuse(errNameless)
		return
	}
	it := p.Events.OpenCall(v.Raw(callID), v.Raw(callName))
	p.Events.AddInput(&it, v.Raw(callInput))
	p.Events.Close(&it)
}

// citing reads a text with citations, which consists of pieces.
func (p *Parser) citing(c *jsonscan.Cursor) {
	v := &p.part
	v.Read(c, cites, &p.Dropped)
	if v.Raw(citesContent) == nil {
		return
	}
	list, it := v.Cursor(citesContent), p.Events.Open(event.Text)
	for list.OpenArray(); list.Element() && !p.Events.Over(); {
		v.Read(&list, block, &p.Dropped)
		p.Events.Add(&it, v.Raw(blockText), jsonscan.Slot{})
	}
	p.Events.Refuse(list.Err())
	p.Events.Close(&it)
}

// Inspect reads a JSON answer for what the gateway needs to know of it.
var Inspect = singleanswer.Inspect(NewParser, "inputTokens")

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(strconv.AppendInt(append(dst, `{"inputTokens":`...), tokens, 10), '}')
}
