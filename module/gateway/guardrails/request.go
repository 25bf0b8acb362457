package guardrails

import (
	"cmp"
	"context"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// Request checks the request of the exchange. state is the path of the first field that refers to what the provider
// stores, and no guard has checked; "" for none. Request returns the body with the edits of the guards, nil if there
// are none, or the fault of a request that does not pass. A message on a WebSocket may name a response of the socket
// if the guard has checked all that the socket has.
func (c *Checks) Request(ctx context.Context, state string) (body []byte, refused *fault.Fault) {
	if c.Exchange.Request.InMessage {
		c.socket = exchange.MessageFrom(ctx)
		c.socket.NoteGuards(c.names())
	}
	if c.log == nil && !slices.ContainsFunc(c.guards, func(g *guard) bool { return g.checks(OnRequest) }) {
		return nil, nil
	}
	ex := c.Exchange
	view := ex.Request.View
	view.Beyond.State = state
	request := texts.OfRequest(ex.Request.Body, &view, &ex.Request.Format.Requests)
	r := requestCheck{Checks: c, texts: request.Texts, now: make([]aigateway.GuardText, len(request.Texts))}
	for i := range request.Texts {
		t := &request.Texts[i]
		r.now[i] = aigateway.GuardText{Kind: kinds[t.Kind], Name: t.Name, Group: t.Group, Text: t.Text}
	}
	for _, g := range c.guards {
		if !g.checks(OnRequest) {
			continue
		}
		if reference := cmp.Or(request.Reference, c.socket.Unchecked(g.Name)); reference != "" && !g.AllowReferences {
			c.blocked(g.Name, "reference", aigateway.GuardRequest)
			return nil, fault.ReferenceBlocked(g.Name, reference)
		}
		if b := r.check(ctx, g); b != nil {
			return nil, b.requestFault()
		}
	}
	if body, refused = r.edited(ex.Request.Body); refused == nil {
		c.logContent(ctx, OnRequest, r.now)
	}
	return body, refused
}

// names returns the names of the guards.
func (c *Checks) names() (names []string) {
	for _, g := range c.guards {
		names = append(names, g.Name)
	}
	return names
}

// requestCheck is the check of one request.
type requestCheck struct {
	*Checks
	texts []texts.Text
	now   []aigateway.GuardText // with the edits so far
	edits []edited              // what was edited last
}

// edited is a text that a guard has changed.
type edited struct {
	text        int
	guard, rule string
}

// check asks a guard for its verdict on the texts that it has not passed before. A guard is
// asked about a request without texts, too.
func (r *requestCheck) check(ctx context.Context, g *guard) *block {
	v := r.view(aigateway.GuardRequest)
	var index []int // of the texts of the view in r.now
	var fresh []digest
	known := false
	for first := 0; first < len(r.now); {
		end := first + 1
		for end < len(r.now) && r.now[end].Group == r.now[first].Group {
			end++
		}
		if g.sees(r.now[first].Kind) {
			d := digestOf(v, r.now[first:end])
			if g.passed.has(d) {
				known = true
			} else {
				fresh = append(fresh, d)
				for i := first; i < end; i++ {
					index, v.Texts = append(index, i), append(v.Texts, r.now[i])
				}
			}
		}
		first = end
	}
	if known && len(fresh) == 0 {
		return nil
	}
	verdict, b := r.ask(ctx, g, v)
	switch {
	case b != nil:
		return b
	case len(verdict.Edits) == 0 && !verdict.Unchecked: // else the guard is asked again
		g.passed.add(fresh)
	}
	for text, edits := range byText(verdict.Edits) {
		i := index[text]
		if r.texts[i].Signed() {
			continue
		}
		r.now[i].Text = replaced(r.now[i].Text, 0, edits)
		r.edits = append(r.edits, edited{i, g.Name, edits[len(edits)-1].Rule})
	}
	return nil
}

// edited returns the body with the changed texts, nil if there are none. A text that cannot be
// put back does not pass.
func (r *requestCheck) edited(body []byte) ([]byte, *fault.Fault) {
	var edits []edit.Edit
	for i := range r.texts {
		if r.now[i].Text == r.texts[i].Text {
			continue
		}
		e, ok := r.texts[i].Put(r.now[i].Text)
		if !ok {
			last := r.edits[slices.IndexFunc(r.edits, func(e edited) bool { return e.text == i })]
			return nil, r.blocked(last.guard, last.rule, aigateway.GuardRequest).requestFault()
		}
		edits = append(edits, e)
	}
	if edits == nil {
		return nil, nil
	}
	slices.SortFunc(edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return edit.Apply(nil, body, edits), nil
}
