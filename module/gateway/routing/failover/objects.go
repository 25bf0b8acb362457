package failover

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// sealedIDs returns the ids of objects in the request of which a target of the model has sealed ids. All
// others are those of a provider.
func (x *run) sealedIDs() (ids []translate.ObjectID) {
	for _, id := range x.ex.Request.View.Beyond.ObjectIDs() {
		if x.model.Seals(id.Kind, x.ex.Request.View.Model) {
			ids = append(ids, id)
		}
	}
	return ids
}

// findObjects keeps the candidates of the account that stores the objects of the request, even if
// they rest: no other account has the objects. If none is left, the verdict is that the client has
// no such object.
func (x *run) findObjects(ids []translate.ObjectID) {
	objects, account, refused := exchange.OpenObjects(x.objectIDs(), &x.ex.Request, ids)
	x.candidates = slices.DeleteFunc(x.all(), func(t selection.Candidate) bool {
		isOther := func(id translate.ObjectID) bool { return !t.Seals(id.Kind, x.ex.Request.View.Model) }
		return refused != nil || slices.ContainsFunc(ids, isOther) || seal.AccountOf(t.Provider.Name, t.APIKey) != account
	})
	if len(x.candidates) == 0 {
		x.verdict.Fault = cmp.Or(refused, x.ex.Request.NoObject(&ids[0]))
	}
	x.ex.Objects = objects
}

// all returns the candidates of the model, those that rest included. For a request on a socket, they
// are those that the socket leads to; if there are none, the verdict is that.
func (x *run) all() []selection.Candidate {
	all := selection.All(x.model, x.ex.Request.View.Model)
	if !x.ex.Request.InMessage {
		return all
	}
	m := exchange.MessageFrom(x.client.Context())
	all = slices.DeleteFunc(all, func(t selection.Candidate) bool {
		return t.Provider.Name != m.Provider || t.APIKey != m.APIKey
	})
	if len(all) == 0 {
		x.verdict.Fault = fault.NotOnSocket(x.ex.Request.View.Model)
	}
	return all
}

// objectIDs returns the sealer of the ids of objects for the client.
func (x *run) objectIDs() *seal.IDs { return x.site.Seals().IDs(x.ex.Owner()) }

// Holder is the account that stores an object, or will.
type Holder struct {
	Provider *catalog.Provider
	APIKey   int    // index
	Model    string // the provider's name of the model of what is created; "" if it is none, or several
}

// AskHolder asks the account that stores an object, and no other one, since only that has it. A
// failure lets no target rest: clients could provoke it.
func (s *Site) AskHolder(h *Holder, answer *reply.Reply, r *http.Request) Verdict {
	ex := answer.Exchange
	x := &run{site: s, ex: ex, reply: answer, client: r}
	ctx, cancel := s.Drain.Bind(r.Context(), s.Deadline)
	x.ctx = ctx
	answer.Start(cancel, s.Answers)
	c := &exchange.Conduit{Attempt: exchange.Attempt{
		Exchange: ex, Provider: h.Provider.Name, Service: h.Provider.Preset, Format: ex.Request.Format,
		Model: h.Model, APIKey: h.APIKey, Traits: h.Provider.Traits(),
	}}
	c.Started = time.Since(ex.Start)
	answer.Next(c, 0)
	err := h.Provider.Caller.Call(ctx, c, answer, r)
	if c.Result.Whole() {
		_, _ = answer.Write(nil) // the answer may have no bytes, with which its headers would be sent
	}
	ex.Course.End(c)
	if c.Result.Fault == nil && !c.Result.Whole() && !x.left() {
		c.Result.Fail(unexplained(ctx, err, h.Provider.Name))
	}
	if !x.conclude(nil, c) {
		x.verdict = Verdict{Failed: c}
	}
	return x.verdict
}
