package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// serveObject answers a request about an object that a provider stores: it asks the account that
// the sealed id contains, or that which stores new objects. Every id that does not open gets the
// same answer, so that a client does not learn which objects exist.
func (h *handler) serveObject(answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	if route.Object.Refused != nil {
		return route.Object.Refused()
	}
	if serve := creating(route.Object); serve != nil {
		leave, refused := enter(h, answer, r)
		if leave == nil {
			return refused
		}
		defer leave()
		return serve(h, answer, r, route)
	}
	holder, refused := h.holderOf(answer.Exchange, r, route.Object)
	if refused == nil && route.Object.Check != nil {
		refused = request.ReadObject(answer.Exchange, r, h.config.MaxBody, route.Object.Check)
		if refused == nil {
			refused = openFiles(answer.Exchange, holder)
		}
	}
	if refused == nil {
		_, refused = h.admit(answer, r, nil)
	}
	if refused != nil {
		return refused
	}
	ex := answer.Exchange
	if route.Object.Method == http.MethodDelete {
		h.settler.BeforeDeletion(r.Context(), ex, holder.Provider, holder.APIKey)
	}
	if !route.Object.Results {
		refused = askHolder(h, holder, answer, r)
		h.settler.Seen(ex)
		return refused
	}
	tally := h.settler.Tally(ex, holder.Provider, holder.APIKey)
	if tally != nil {
		ex.Objects.Call.Line = tally.Add
	}
	if refused = askHolder(h, holder, answer, r); tally != nil && ex.Course.Result != nil && ex.Course.Result.Whole() {
		h.settler.Downloaded(tally)
	}
	return refused
}

// nameFiles adds the files of its client to which a request refers, and what has files, to the objects of
// the request, if a target of its model has sealed ids of them. All other ids are those of a provider, or of the
// WebSocket of the request.
func nameFiles(ex *exchange.Exchange, r *http.Request, m *catalog.Model) *fault.Fault {
	request, model := &ex.Request, ex.Request.View.Model
	if !m.Seals(seal.FileID, model) || passthrough.IsForm(request.Body) {
		return nil
	}
	reach, socket := &request.View.Beyond, exchange.MessageFrom(r.Context())
	found, refused := filesIn(request.Format, request.Body, func(kind string) bool { return m.Seals(kind, model) })
	found = slices.DeleteFunc(found, func(id translate.ObjectID) bool {
		return socket.Has(request, &id) || slices.ContainsFunc(reach.ObjectIDs(), func(other translate.ObjectID) bool { return other.Span == id.Span })
	})
	if len(found) > 0 {
		all := new(translate.References)
		if reach.References != nil {
			*all = *reach.References
		}
		all.Objects = slices.Concat(all.Objects, found)
		reach.References = all
	}
	return refused
}

// openFiles opens the ids of files in the body of a request about an object, such as those in the items of a
// conversation. They must be of the account that stores the object.
func openFiles(ex *exchange.Exchange, holder *failover.Holder) *fault.Fault {
	traits := holder.Provider.Traits()
	if !traits.SealsFiles() || len(ex.Request.Body) == 0 {
		return nil
	}
	found, refused := filesIn(ex.Request.Format, ex.Request.Body, func(kind string) bool { return format.Seals(kind, traits) })
	for i := range found {
		account, raw, ok := ex.Objects.Find(found[i].Kind, ex.Request.IDText(&found[i]))
		switch {
		case !ok:
			return ex.Request.NoObject(&found[i])
		case account != seal.AccountOf(holder.Provider.Name, holder.APIKey):
			return fault.ObjectApart(found[i].Path, found[i].Kind)
		}
		ex.Objects.Call.Edits = append(ex.Objects.Call.Edits, edit.Edit{Span: found[i].Span, With: jsonscan.AppendString(nil, raw)})
	}
	return refused
}

// filesIn returns the ids in a body of objects of kinds, if files are one of them, and the format refers to them
// by names of members alone.
func filesIn(f *format.Descriptor, body []byte, isKind func(kind string) bool) ([]translate.ObjectID, *fault.Fault) {
	if !f.Objects.ByMembers || !isKind(seal.FileID) {
		return nil, nil
	}
	found, err := objects.References(body, isKind)
	if err != nil {
		return nil, fault.Malformed(0, err)
	}
	return found, nil
}

// creating returns the function that serves a request which stores a file or creates a batch, and counts for
// max_running; nil for other requests about objects.
func creating(o *format.ObjectPath) func(*handler, *reply.Reply, *http.Request, *routes.Route) *fault.Fault {
	switch {
	case o.Batch != nil:
		return serveBatch
	case o.Form != nil && o.Form.Resumable != nil:
		return serveResumable
	case o.Form != nil:
		return serveUpload
	}
	return nil
}

// askHolder asks the account that stores an object, or will. It returns why it was not asked, or did
// not answer.
func askHolder(h *handler, holder *failover.Holder, answer *reply.Reply, r *http.Request) *fault.Fault {
	v := h.providers.AskHolder(holder, answer, r)
	if v.Failed != nil {
		answer.RelayError(&v.Failed.Result)
		return nil
	}
	return v.Fault
}

// holderOf returns who stores the object of a request, and sets what it is asked; or it returns why the
// request is refused. It refuses what guards would have to check: only DELETE shows no content.
func (h *handler) holderOf(ex *exchange.Exchange, r *http.Request, o *format.ObjectPath) (*failover.Holder, *fault.Fault) {
	if !h.resolved.catalog.Seals(ex.Request.Format, o) {
		return nil, fault.NotKept(o.Kind)
	}
	ids, sealed := h.providers.Seals().IDs(ex.Owner()), o.ID(r.URL.Path)
	call := &exchange.ObjectCall{Method: o.Method, Query: o.Parameters(r.URL.Query()), Content: o.Content || o.Results, Results: o.Results}
	holder := new(failover.Holder)
	if sealed == "" {
		ex.Objects, call.Path = &exchange.Objects{IDs: ids, Call: call, Base: baseOf(h, r)}, o.Below(r.URL.Path, "")
		if holder.Provider = h.resolved.catalog.Keeper(ex.Request.Format, o); holder.Provider == nil {
			return nil, fault.NotKept(o.Kind)
		}
	} else {
		named, account, id, ok := exchange.OpenObject(ids, o.Kind, sealed)
		named.Call, named.Base, call.Path = call, baseOf(h, r), o.Below(r.URL.Path, id)
		ex.Objects = named
		call.Query = named.Show(call.Query) // the ids of messages begin with that of their completion
		if holder.Provider, holder.APIKey = h.resolved.catalog.Holder(account); !ok || holder.Provider == nil {
			return nil, fault.NoObject("", o.Kind, observe.Clip(sealed))
		}
	}
	if id := foreignID(r, o.Query, sealed); id != "" {
		return nil, fault.NoObject("", objects.KindOf(id), observe.Clip(id))
	}
	if guard := h.resolved.guards.Hiding(ex.Key.ID); guard != "" && o.Method != http.MethodDelete {
		return nil, fault.ReferenceBlocked(guard, "path")
	}
	return holder, nil
}

// foreignID returns a value of the named parameters of the query of a request that is the id of another object
// than that of the path; "" if there is none. Ids of messages begin with that of their completion.
func foreignID(r *http.Request, names []string, own string) string {
	values := r.URL.Query()
	for _, name := range names {
		for _, value := range values[name] {
			if objects.KindOf(value) != "" && (own == "" || !strings.HasPrefix(value, own)) {
				return value
			}
		}
	}
	return ""
}
