package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The beginnings of signatures outside of the format, which state the part that is signed.
const (
	OfCall = "call:" // the call behind the signature
	OfText = "part:" // the text in front of it, or an empty one
)

// Parser reads an answer of the format into core events, a stream as well as a JSON body. The
// events of a stream are parts of the JSON answer; the last one is not marked.
type Parser struct {
	singleanswer.Parser
	whole, candidate, part members.Values
	open                   singleanswer.Item
	searches               searches
}

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	p := &Parser{}
	p.Init(&words, h)
	return p
}

// Event reads the next event of a stream.
func (p *Parser) Event(e sse.Event) {
	if stream.ReadPart(&p.Parser, &p.whole, e) {
		p.send()
		p.Events.Learn(e)
	}
}

var errNoReason = errors.New("an answer without a reason for its end")

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	if !stream.ReadWhole(&p.Parser, &p.whole, body) {
		return
	}
	p.send()
	if !p.Finished(1) {
		p.Events.Refuse(errNoReason)
	}
	p.Events.Complete()
}

// send sends the candidates of an answer or a part of one, or that the prompt was blocked.
func (p *Parser) send() {
	if p.whole.Filled(blockReason) != nil {
		p.SendFinish(event.Event{Finish: event.FinishFiltered, Text: jsonscan.DecodedOf(p.whole.Raw(blockText))})
	}
	if p.whole.Raw(candidates) == nil {
		return
	}
	p.searches.name(p.whole.Raw(model))
	list := p.whole.Cursor(candidates)
	for list.OpenArray(); list.Element() && !p.Events.Over(); {
		v := &p.candidate
		read := v.Read(&list, candidate, &p.Dropped)
		if read && v.Raw(grounding) != nil {
			p.ground()
		}
		switch {
		case !read, token.CountOf(v.Raw(number)) > 0:
			p.Drop("candidates[*]") // no request asks for more than one
		case v.Unreadable():
			p.Events.Refuse(errPart)
		default:
			p.sendParts()
			p.sendReason()
		}
	}
	p.Events.Refuse(list.Err())
}

// ground counts the searches of the candidate. Other formats have no place for its sources.
func (p *Parser) ground() {
	p.Drop("candidates[*].groundingMetadata")
	p.searches.read(p.candidate.Cursor(grounding), token.CountOf(p.candidate.Raw(number)))
	p.Report.Searches = p.searches.charged() // unless the answer states the number
	p.SendUsage()
}

var errPart = errors.New("a part of an unknown kind")

// sendParts sends the parts of the candidate.
func (p *Parser) sendParts() {
	if p.candidate.Raw(parts) == nil {
		return
	}
	list, v := p.candidate.Cursor(parts), &p.part
	for list.OpenArray(); list.Element() && !p.Events.Over(); {
		if !v.Read(&list, part, &p.Dropped) || v.Unreadable() {
			p.Events.Refuse(errPart)
			return
		}
		if v.Raw(callName) != nil || v.Raw(arguments) != nil || v.Raw(callID) != nil {
			p.sendCall()
			continue
		}
		if v.Filled(text) != nil {
			kind := event.Text
			if string(v.Raw(thought)) == "true" {
				kind = event.Reasoning
			}
			p.Events.Add(p.Events.Switch(&p.open, kind), v.Raw(text), v.At(text))
		}
		if v.Filled(mediaType) != nil || v.Filled(mediaData) != nil {
			p.sendMedia(lostMedia, event.NewMedia(jsonscan.DecodedOf(v.Raw(mediaType)), jsonscan.DecodedOf(v.Raw(mediaData)), lostMedia))
		}
		if v.Filled(linkType) != nil || v.Filled(link) != nil {
			p.sendMedia(lostLink, event.NewLink(jsonscan.DecodedOf(v.Raw(linkType)), jsonscan.DecodedOf(v.Raw(link)), lostLink))
		}
		p.sign(OfText, nil)
	}
	p.Events.Refuse(list.Err())
}

// sendMedia sends the media in the part, which are at a path. Those of a thought are drafts, and no answer.
func (p *Parser) sendMedia(path string, m *event.Media) {
	if string(p.part.Raw(thought)) == "true" {
		p.Drop(path)
		return
	}
	p.Events.Close(&p.open)
	p.Events.SendMedia(m, path, &p.Dropped)
}

var errNameless = errors.New("a tool call without a name")

// sendCall sends the call of the part, which is whole.
func (p *Parser) sendCall() {
	v := &p.part
	if v.Filled(callName) == nil {
		p.Events.Refuse(errNameless)
		return
	}
	p.sign(OfCall, jsonscan.DecodedOf(v.Raw(callID)))
	p.Events.Close(&p.open)
	it := p.Events.OpenCall(v.Raw(callID), v.Raw(callName))
	p.Events.AddInput(&it, v.Raw(arguments))
	p.Events.Close(&it)
}

// sign sends the signature of the part, if it has one. subject states what is signed, and call is
// the id of a call.
func (p *Parser) sign(subject string, call []byte) {
	raw := p.part.Filled(signature)
	if raw == nil {
		return
	}
	p.Events.Switch(&p.open, event.Reasoning)
	signed := append([]byte(subject), jsonscan.DecodedOf(raw)...)
	p.Events.Send(event.Event{Kind: event.Signature, ID: call, Text: signed, Origin: translate.Gemini})
	p.Events.Close(&p.open)
}

// sendReason sends the reason why the turn has ended, if it is known. Some services state one in each
// part of a stream: the text goes on behind it.
func (p *Parser) sendReason() {
	if raw := p.candidate.Filled(reason); raw != nil {
		p.Finish(raw, nil, p.candidate.Raw(explanation))
	}
}

// Inspect reads a JSON answer for what the gateway needs to know of it.
func Inspect(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	if op.Embeds() {
		return inspectEmbeddings(body)
	}
	return inspect(body, op)
}

var inspect = singleanswer.Inspect(NewParser, "totalTokens")
