package singleanswer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Parts describes the streams of a format whose events are parts of the JSON answer, with the
// same members. The zero Parts is for formats with other streams.
type Parts struct {
	Table                 *members.Table // of an event, and of a JSON answer
	Model, Usage, Failure members.Member // a name, a usage object, and an error unless it is empty
	Tier                  string         // the member of the usage that is the service tier, "" for none
	Dialect               *fault.Dialect // of errors
}

// ReadPart reads an event of a stream whose Words have Parts into v, and sends its beginning
// and its usage. It reports whether there are items to send; Learn comes behind them.
func (p *Parser) ReadPart(v *members.Values, e sse.Event) bool {
	if p.Over() || p.Repeat(e.Name, e.Data) != nil {
		return false
	}
	p.Begin()
	return p.readPart(v, e.Data, p.words.Parts.Dialect.ReadEvent)
}

// ReadWhole is ReadPart for a JSON answer.
func (p *Parser) ReadWhole(v *members.Values, body []byte) bool {
	return p.readPart(v, body, fault.ReadAnswer)
}

func (p *Parser) readPart(v *members.Values, data []byte, failed func([]byte) *fault.Fault) bool {
	parts, dropped := &p.words.Parts, p.Dropped
	c := jsonscan.New(data)
	err := v.ReadDocument(&c, parts.Table, &p.Dropped)
	if err == nil && v.Filled(parts.Failure) != nil {
		p.Dropped = dropped // the members around an error are not part of an answer
		p.Fail(failed(data))
	}
	if err != nil && parts.Dialect.HasError(data) {
		p.Fail(failed(data)) // an error in a list
	}
	if p.Refuse(err); p.Over() {
		return false
	}
	counted := p.Count(v, parts.Usage)
	if parts.Tier != "" && counted {
		p.ReadTier(jsonscan.MemberOf(v.Raw(parts.Usage), parts.Tier), "usage."+parts.Tier)
	}
	p.Start(jsonscan.DecodedOf(v.Raw(parts.Model)), 0)
	if counted {
		p.SendUsage()
	}
	return true
}

// Switch returns the open item for a fragment of a kind, Text or Reasoning. An open item of
// another kind is closed before. It is for formats that do not mark where items begin.
func (p *Parser) Switch(open *Item, kind event.Kind) *Item {
	if open.Kind != kind {
		p.Close(open)
		*open = p.Open(kind)
	}
	return open
}
