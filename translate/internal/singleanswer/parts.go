package singleanswer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Parts describes the streams of a format whose events are parts of the JSON answer, with the
// same members.
type Parts struct {
	Table                 *members.Table // of an event, and of a JSON answer
	Model, Usage, Failure members.Member // a name, a usage object, and an error unless it is empty
	Tier                  string         // the member of the usage that is the service tier, "" for none
	Dialect               *fault.Dialect // of errors
}

// ReadPart reads an event of a stream into v, and sends its beginning and its usage with the parser.
// It reports whether there are items to send; Learn comes behind them.
func (a *Parts) ReadPart(p *Parser, v *members.Values, e sse.Event) bool {
	if p.Events.Over() || p.Events.Repeat(e.Name, e.Data) != nil {
		return false
	}
	p.Events.Begin()
	return a.read(p, v, e.Data, a.Dialect.ReadEvent)
}

// ReadWhole is ReadPart for a JSON answer.
func (a *Parts) ReadWhole(p *Parser, v *members.Values, body []byte) bool {
	return a.read(p, v, body, fault.ReadAnswer)
}

func (a *Parts) read(p *Parser, v *members.Values, data []byte, failed func([]byte) *fault.Fault) bool {
	dropped := p.Dropped
	c := jsonscan.New(data)
	err := v.ReadDocument(&c, a.Table, &p.Dropped)
	if err == nil && v.Filled(a.Failure) != nil {
		p.Dropped = dropped // the members around an error are not part of an answer
		p.Events.Fail(failed(data))
	}
	if err != nil && a.Dialect.HasError(data) {
		p.Events.Fail(failed(data)) // an error in a list
	}
	if p.Events.Refuse(err); p.Events.Over() {
		return false
	}
	counted := p.Count(v, a.Usage)
	if a.Tier != "" && counted {
		p.ReadTier(jsonscan.MemberOf(v.Raw(a.Usage), a.Tier), "usage."+a.Tier)
	}
	p.Start(jsonscan.DecodedOf(v.Raw(a.Model)), 0)
	if counted {
		p.SendUsage()
	}
	return true
}
