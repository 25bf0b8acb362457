package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// serveBatch answers a request that creates a batch: each of its requests must be one that the key
// may send, and one provider must have the models of all. Its highest possible cost is reserved
// until its results are known.
func serveBatch(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	ex := answer.Exchange
	if guard := h.resolved.guards.Checking(ex.Key.ID); guard != "" {
		return fault.BatchUnseen(guard)
	}
	b := newBatch(h, ex, route.Object)
	b.named, b.format, b.operation = route.Model, ex.Request.Format, route.Object.Batch.Operation
	ex.Objects = &exchange.Objects{IDs: h.providers.Seals().IDs(ex.Owner()), Base: baseOf(h, r)}
	limit := h.config.MaxBody
	if route.Object.Batch.Inline {
		limit = h.config.MaxBatch
	}
	var file translate.ObjectID
	refused := request.ReadObject(ex, r, limit, func(body []byte) (refused *fault.Fault) {
		b.input.body = body
		if file, refused = route.Object.Batch.Read(body, b.add); refused == nil {
			refused = refuseWebhook(ex.Request.Format, body)
		}
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case !file.Span.Empty():
		return serveBatchOf(h, answer, r, route, &file)
	case b.offers == nil:
		return fault.BodyEmpty()
	}
	offer := &b.offers[0]
	if len(b.models) == 1 {
		ex.Request.View.Model = b.models[0].name
		ex.Covering = string(h.resolved.catalog.Model(ex.Request.View.Model).Pattern)
	}
	if refused := h.config.Names.Apply(ex); refused != nil {
		return refused
	}
	call := &exchange.ObjectCall{Method: route.Object.Method, Path: b.path(r, offer.provider), Query: route.Object.Parameters(r.URL.Query())}
	call.Created = exchange.Created{Kind: route.Object.Kind, Edits: b.editsFor(offer.provider), Bound: offer.bound}
	ex.Objects.Call = call
	t := b.targetAt(offer.provider)
	if refused := admitAt(h, answer, r, t); refused != nil {
		return refused
	}
	return askHolder(h, &failover.Holder{Provider: offer.provider, APIKey: offer.apiKey, Model: b.modelAt(offer.provider)}, answer, r)
}

// refuseWebhook refuses a document about sealed objects with an address that the provider would call with their
// names, in a format that has its names in members of JSON.
func refuseWebhook(f *format.Descriptor, document []byte) *fault.Fault {
	if !f.Objects.ByMembers {
		return nil
	}
	if member := objects.Webhook(document); member != "" {
		return fault.Webhook(observe.Clip(member))
	}
	return nil
}

// batch is a batch that is being read.
type batch struct {
	site   *resolved
	chain  *limits.Chain // nil if the limits of the key cannot be applied, so that it is refused
	ex     *exchange.Exchange
	object *format.ObjectPath // by which it is created, or its file is
	named  string             // the model in the path; "" if each request names its own

	format    *format.Descriptor  // of its requests
	operation translate.Operation // of its requests
	offers    []offer             // the providers that have all models so far, in the order of the first one; nil before it
	models    []batchModel
	known     map[string]int // the models by their names
	input     batchBody
}

// batchBody is the body with requests of a batch, and what providers get otherwise than it is.
type batchBody struct {
	body   []byte
	places []batchPlace
	cuts   []edit.Edit // of parts that no provider could read, and of ids
}

func newBatch(h *handler, ex *exchange.Exchange, o *format.ObjectPath) *batch {
	return &batch{site: h.resolved, chain: h.resolved.limits.Of(ex.Key), ex: ex, object: o, known: make(map[string]int)}
}

// offer is a provider that has all models of a batch so far.
type offer struct {
	provider *catalog.Provider
	apiKey   int   // index
	fixed    bool  // a request refers to an object of the account of the API key, or the account gets the file
	bound    int64 // the highest possible cost so far, in nanos
}

// batchModel is a model of a batch.
type batchModel struct {
	name  string // that clients use
	known *catalog.Model
}

// target returns the target of the model at a provider that has batches, nil if there is none.
func (m *batchModel) target(p *catalog.Provider, b *batch) *catalog.Target {
	i := slices.IndexFunc(m.known.Targets, func(t catalog.Target) bool { return (p == nil || t.Provider == p) && b.takes(t, m.name) })
	if i < 0 {
		return nil
	}
	return &m.known.Targets[i]
}

// batchPlace is the place of the name of a model in the body.
type batchPlace struct {
	span  translate.Span
	model int
}

// takes reports whether a target has batches with requests of the format for a model.
func (b *batch) takes(t catalog.Target, model string) bool {
	traits := t.TraitsOf(model)
	return traits.Batches == trait.BatchesSealed && b.object.IsSealed(traits) &&
		slices.Contains(t.Provider.Formats, b.ex.Request.Format) &&
		!t.Provider.ComputesAddresses() && t.Provider.SpeakFor(traits.ModelOf(t.UpstreamModel(model)), b.format) == b.format
}

// add adds a request of the batch, which is a part of the body.
func (b *batch) add(place translate.Span) *fault.Fault {
	body := b.input.body[place.Start:place.End]
	view, refused := b.format.Requests.Inspect(body, b.operation)
	if refused != nil {
		return refused
	}
	asked := view.Model
	if b.named != "" {
		if name := b.format.Requests.ModelName; asked != "" && name(asked) != name(b.named) {
			return fault.InvalidField("model", "must be that of the path")
		}
		asked, view.Model = b.named, b.named
	}
	model, refused := b.model(asked)
	if refused != nil {
		return refused
	}
	switch {
	case view.Stream:
		return fault.BatchStreams()
	case view.Beyond.Background:
		return fault.BatchInBackground()
	case view.Beyond.State != "":
		return fault.NeedsState(view.Beyond.State)
	case view.Beyond.OtherModels != "" && len(b.ex.Key.Bound()) > 0:
		return fault.OtherModels(view.Beyond.OtherModels)
	}
	single := &exchange.Exchange{Key: b.ex.Key, Request: exchange.Request{
		Operation: translate.Batch, Format: b.format, Client: b.ex.Request.Client, Body: body, View: view,
	}}
	if b.operation != translate.Generate {
		single.Request.Operation = b.operation
	}
	if refused := b.narrow(&b.models[model], single); refused != nil {
		return refused
	}
	if refused := b.openFiles(&b.models[model], place, view.Beyond.ObjectIDs()); refused != nil {
		return refused
	}
	if !view.ModelSpan.Empty() {
		b.input.places = append(b.input.places, batchPlace{moved(view.ModelSpan, place.Start), model})
	}
	for _, span := range view.SelfSigned {
		b.input.cuts = append(b.input.cuts, edit.Edit{Span: moved(span, place.Start)})
	}
	for _, span := range view.Resigned {
		b.input.cuts = append(b.input.cuts, edit.Edit{Span: moved(span, place.Start), With: b.format.Requests.Resigned})
	}
	return nil
}

// openFiles opens the ids of files to which a request refers, which is a part of the body. The account that
// has them gets the batch. Named are the ids that the view of the request has: those of a format
// whose ids no name of a member shows.
func (b *batch) openFiles(m *batchModel, request translate.Span, named []translate.ObjectID) *fault.Fault {
	seals := func(kind string) bool {
		return slices.ContainsFunc(b.offers, func(o offer) bool { return m.target(o.provider, b).Seals(kind, m.name) })
	}
	found, refused := filesIn(b.format, b.input.body[request.Start:request.End], seals)
	for _, id := range named {
		if !b.format.Objects.ByMembers && seals(id.Kind) {
			found = append(found, id)
		}
	}
	for _, id := range found {
		place := moved(id.Span, request.Start)
		text := []byte(seal.NameIn(id.Kind, jsonscan.TextOf(b.input.body[place.Start:place.End])))
		account, raw, ok := b.ex.Objects.Find(id.Kind, text)
		provider, apiKey := b.site.catalog.Holder(account)
		if !ok || provider == nil {
			return fault.NoObject(id.Path, id.Kind, observe.Clip(string(text)))
		}
		b.offers = slices.DeleteFunc(b.offers, func(o offer) bool { return o.provider != provider || o.fixed && o.apiKey != apiKey })
		if len(b.offers) == 0 {
			return fault.ObjectApart(id.Path, id.Kind)
		}
		b.offers[0].apiKey, b.offers[0].fixed = apiKey, true
		b.input.cuts = append(b.input.cuts, edit.Edit{Span: place, With: jsonscan.AppendString(nil, raw)})
	}
	return refused
}

func moved(s translate.Span, offset int) translate.Span {
	return translate.Span{Start: s.Start + offset, End: s.End + offset}
}

// model returns the index of a model of the batch.
func (b *batch) model(name string) (i int, refused *fault.Fault) {
	if i, ok := b.known[name]; ok {
		return i, nil
	}
	switch m := b.site.catalog.Model(name); {
	case m == nil:
		return 0, fault.UnknownModel(name)
	case !b.ex.Key.Allows(name):
		return 0, fault.ModelNotAllowed(name)
	default:
		b.known[name] = len(b.models)
		b.models = append(b.models, batchModel{name, m})
	}
	return len(b.models) - 1, nil
}

// narrow leaves the offers that take a request with a model, and adds its cost to theirs. It refuses
// a request that no offer takes.
func (b *batch) narrow(m *batchModel, single *exchange.Exchange) (refused *fault.Fault) {
	if b.offers == nil {
		for i := range m.known.Targets {
			if t := &m.known.Targets[i]; b.takes(*t, m.name) && !slices.ContainsFunc(b.offers, func(o offer) bool { return o.provider == t.Provider }) {
				b.offers = append(b.offers, offer{provider: t.Provider})
			}
		}
	}
	left := b.offers[:0]
	for _, o := range b.offers {
		t := m.target(o.provider, b)
		switch {
		case t == nil:
			continue
		case t.If != nil && !t.Takes(conditions.Example(single)):
			refused = fault.NoTarget(m.name)
			continue
		}
		cost, f := b.boundAt(t, m, single)
		if f != nil {
			refused = f
			continue
		}
		o.bound = min(o.bound+cost, mostBound)
		left = append(left, o)
	}
	switch b.offers = left; {
	case len(left) > 0:
		return nil
	case refused != nil:
		return refused
	}
	return fault.BatchProvider(m.name)
}

// mostBound is the highest cost that is reserved, in nanos.
const mostBound = 1 << 58

// boundAt returns the highest possible cost of a request at a target, and why the target cannot take
// it.
func (b *batch) boundAt(t *catalog.Target, m *batchModel, single *exchange.Exchange) (nanos int64, refused *fault.Fault) {
	if late := single.Request.View.LateSystem; late != "" && !t.TraitsOf(m.name).TakesLateSystem() {
		return 0, fault.LateSystem(late)
	}
	for _, chain := range b.chainsAt(t) {
		cost, f := chain.BoundInBatch(single, *t, b.site.catalog)
		nanos, refused = max(nanos, min(cost, mostBound)), cmp.Or(refused, f)
	}
	return nanos, refused
}

// editsFor returns the edits of the body for a provider, in the order of the body.
func (b *batch) editsFor(p *catalog.Provider) []edit.Edit {
	names := make(map[int][]byte)
	edits := b.input.cuts
	for _, place := range b.input.places {
		name, ok := names[place.model]
		if !ok {
			m := &b.models[place.model]
			if upstream := m.target(p, b).UpstreamModel(m.name); upstream != m.name {
				if stated := b.format.Requests.ModelName; stated != nil {
					upstream = stated(upstream)
				}
				name = jsonscan.AppendString(nil, upstream)
			}
			names[place.model] = name
		}
		if name != nil {
			edits = append(edits, edit.Edit{Span: place.span, With: name})
		}
	}
	slices.SortFunc(edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return edits
}

// chainsAt returns the limits that apply to requests at a target.
func (b *batch) chainsAt(t *catalog.Target) []*limits.Chain {
	return slices.DeleteFunc([]*limits.Chain{b.chain, b.site.limits.Calls.Of(t)}, func(c *limits.Chain) bool { return c == nil })
}

// currencyAt returns the currency of the budgets that apply to requests at a target, "" if there are none.
func (b *batch) currencyAt(t *catalog.Target) (currency string) {
	for _, chain := range b.chainsAt(t) {
		currency = cmp.Or(currency, chain.Currency())
	}
	return currency
}

// targetAt returns the target of all requests at a provider: that of the only model, or else the provider.
func (b *batch) targetAt(p *catalog.Provider) *catalog.Target {
	if len(b.models) != 1 {
		return &p.Alone().Targets[0]
	}
	return b.models[0].target(p, b)
}

// modelAt returns the provider's name of the model of all requests, "" if there are several.
func (b *batch) modelAt(p *catalog.Provider) string {
	if len(b.models) != 1 {
		return ""
	}
	return b.models[0].target(p, b).UpstreamModel(b.models[0].name)
}

// path returns the path by which the batch is created at a provider, below the version.
func (b *batch) path(r *http.Request, p *catalog.Provider) string {
	if b.named != "" {
		return b.object.OfModel(b.modelAt(p))
	}
	return b.object.Below(r.URL.Path, "")
}

// baseOf returns what the addresses in answers begin with, the version included: never a host that the
// client has chosen, and none of a site without TLS, where clients would send their keys in clear.
func baseOf(h *handler, r *http.Request) string {
	const version = "/v1"
	if h.config.PublicURL != "" {
		return strings.TrimSuffix(h.config.PublicURL, "/") + version
	}
	addresses := addressesOf(h)
	if len(addresses) != 1 || strings.HasPrefix(addresses[0], "http://") {
		return version
	}
	host := strings.TrimPrefix(addresses[0], "https://")
	if strings.HasPrefix(host, ":") || strings.Contains(host, "*") {
		return version
	}
	return "https://" + host + aigateway.PathPrefix(r) + version
}
