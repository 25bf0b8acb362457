package gateway

import (
	"cmp"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// batchFile checks the requests of a batch in a file, while the file is uploaded.
type batchFile struct {
	*batch
	path string // of the endpoint of all requests; "" before the first one
}

// Line implements request.Lines. The provider of the first request gets the file, so that it must have
// the models of all others.
func (b *batchFile) Line(line []byte) ([]byte, *fault.Fault) {
	path, place, refused := b.object.Form.Requests.Read(line)
	switch {
	case refused != nil:
		return nil, refused
	case b.path == "":
		b.path = path
		b.format, b.operation = formats.OfEndpoint(path)
	case b.path != path:
		return nil, fault.InvalidField("url", "must be '"+b.path+"', as in the lines before")
	}
	b.input.body, b.input.places, b.input.cuts = line, b.input.places[:0], b.input.cuts[:0]
	if refused := b.add(place); refused != nil {
		return nil, refused.InBatch("body")
	}
	if refused := refuseWebhook(b.format, line); refused != nil {
		return nil, refused
	}
	b.offers = b.offers[:1]
	b.offers[0].fixed = true
	return edit.Apply(nil, line, b.editsFor(b.offers[0].provider)), nil
}

// End implements request.Lines.
func (b *batchFile) End() *exchange.Requests {
	o := &b.offers[0]
	r := &exchange.Requests{Model: b.modelAt(o.provider)}
	r.Bound = aigateway.Cost{Nanos: o.bound, Currency: b.currencyAt(b.targetAt(o.provider))}
	if r.Model != "" {
		r.Asked = b.models[0].name
	}
	return r
}

// serveBatchOf answers a request that creates a batch of the requests in the file that its body names, at the
// provider that stores the file. What they may cost is reserved until the results are known.
func serveBatchOf(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route, input *translate.ObjectID) *fault.Fault {
	ex := answer.Exchange
	sealed := string(ex.Request.IDText(input))
	objects, account, id, ok := exchange.OpenObject(h.providers.Seals().IDs(ex.Owner()), input.Kind, sealed)
	holder := new(failover.Holder)
	if holder.Provider, holder.APIKey = h.resolved.catalog.Holder(account); !ok || holder.Provider == nil || !route.Object.IsSealed(holder.Provider.Traits()) {
		return fault.NoObject(input.Path, input.Kind, observe.Clip(sealed))
	}
	id = seal.NameIn(input.Kind, id)
	file, err := h.settler.File(r.Context(), account, id)
	if err != nil {
		return fault.LedgerUnavailable(err)
	}
	b, t := newBatch(h, ex, route.Object), &holder.Provider.Alone().Targets[0]
	b.named, b.format = route.Model, ex.Request.Format
	if file != nil {
		t = cmp.Or(h.settler.TargetOf(&file.Record), t)
	}
	if b.named != "" {
		i, refused := b.model(b.named)
		if refused != nil {
			return refused
		}
		if t = b.models[i].target(holder.Provider, b); t == nil {
			return fault.BatchProvider(b.named)
		}
		holder.Model = b.modelAt(holder.Provider)
	}
	var volume *exchange.Volume
	if file != nil {
		volume = meter.VolumeOf(file)
	}
	if refused := refuseFile(ex.Key, b.currencyAt(t), file, volume); refused != nil {
		return refused
	}
	objects.Call = &exchange.ObjectCall{Method: route.Object.Method, Path: b.path(r, holder.Provider)}
	objects.Call.Created = exchange.Created{Kind: route.Object.Kind, Edits: []edit.Edit{{Span: input.Span, With: jsonscan.AppendString(nil, id)}}}
	if file != nil && b.named == "" {
		held := &file.Record.Calls[0]
		objects.Call.Bound, holder.Model, ex.Request.View.Model = held.Held.Nanos, held.Model, file.Record.Model
	}
	if volume != nil && b.named != "" {
		bound, refused := b.boundOf(volume, t)
		if refused != nil {
			return refused
		}
		objects.Call.Bound = bound
	}
	if m := h.resolved.catalog.Model(ex.Request.View.Model); ex.Request.View.Model != "" && m != nil {
		ex.Covering = string(m.Pattern)
	}
	ex.Objects = objects
	if refused := h.config.Names.Apply(ex); refused != nil {
		return refused
	}
	if refused := admitAt(h, answer, r, t); refused != nil {
		return refused
	}
	return askHolder(h, holder, answer, r)
}

// boundOf returns the highest possible cost of the requests of a file at the target of the model, and why the
// target cannot take them.
func (b *batch) boundOf(file *exchange.Volume, t *catalog.Target) (nanos int64, refused *fault.Fault) {
	for _, chain := range b.chainsAt(t) {
		cost, f := chain.BoundOfFile(file, b.named, *t, b.site.catalog)
		nanos, refused = max(nanos, min(cost, mostBound)), cmp.Or(refused, f)
	}
	return nanos, refused
}

// refuseFile returns why a key with budgets in a currency, "" for none, may not create a batch of the
// requests in a file; nil if it may. What the gateway knows of the file is nil if it has not read it, or
// has no ledger that would know; the volume is nil if it knows what the requests cost.
func refuseFile(key *aigateway.Key, currency string, file *accounting.Deferred, volume *exchange.Volume) *fault.Fault {
	switch {
	case currency == "" && len(key.Bound()) == 0:
		return nil
	case file == nil || file.Record.Key != key.ID || volume == nil && currency != "" && file.Record.Calls[0].Held.Currency != currency:
		return fault.BatchFileUnread()
	case file.Record.Model != "" && !key.Allows(file.Record.Model):
		return fault.ModelNotAllowed(file.Record.Model)
	}
	return nil
}
