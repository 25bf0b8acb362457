package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// serveObject answers a request about an object that a provider stores: it asks the account that
// the sealed id contains, or that which stores new objects. Every id that does not open gets the
// same answer, so that a client does not learn which objects exist.
func (h *Handler) serveObject(to *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	if route.Object.Refused != nil {
		return route.Object.Refused()
	}
	if serve := creating(route.Object); serve != nil {
		leave, refused := enter(h, to.Exchange, r)
		if refused != nil {
			return refused
		}
		defer leave()
		return serve(h, to, r, route)
	}
	holder, refused := h.holderOf(to.Exchange, r, route.Object)
	if refused == nil && route.Object.Check != nil {
		refused = request.ReadObject(to.Exchange, r, h.MaxBody, route.Object.Check)
	}
	if refused == nil {
		_, refused = h.admit(to, r, nil)
	}
	if refused != nil {
		return refused
	}
	ex := to.Exchange
	if route.Object.Method == http.MethodDelete {
		h.settler.BeforeDeletion(r.Context(), ex, holder.Provider, holder.APIKey)
	}
	if !route.Object.Results {
		refused = askHolder(h, holder, to, r)
		h.settler.Seen(ex)
		return refused
	}
	tally := h.settler.Tally(ex, holder.Provider, holder.APIKey)
	if tally != nil {
		ex.Objects.Call.Line = tally.Add
	}
	if refused = askHolder(h, holder, to, r); tally != nil && ex.Result != nil && ex.Result.Whole() {
		h.settler.Downloaded(tally)
	}
	return refused
}

// creating returns the function that serves a request which stores a file or creates a batch, and counts for
// max_running; nil for other requests about objects.
func creating(o *format.ObjectPath) func(*Handler, *reply.Reply, *http.Request, *routes.Route) *fault.Fault {
	switch {
	case o.Batch != nil:
		return serveBatch
	case o.BatchOf != nil:
		return serveBatchOf
	case o.Form != nil && o.Form.Resumable != nil:
		return serveResumable
	case o.Form != nil:
		return serveUpload
	}
	return nil
}

// askHolder asks the account that stores an object, or will. It returns why it was not asked, or did
// not answer.
func askHolder(h *Handler, holder *failover.Holder, to *reply.Reply, r *http.Request) *fault.Fault {
	v := h.providers.AskHolder(holder, to, r)
	if v.Failed != nil {
		to.RelayError(&v.Failed.Result)
		return nil
	}
	return v.Fault
}

// holderOf returns who stores the object of a request, and sets what it is asked; or it returns why the
// request is refused. It refuses what guards would have to check: only DELETE shows no content.
func (h *Handler) holderOf(ex *exchange.Exchange, r *http.Request, o *format.ObjectPath) (*failover.Holder, *fault.Fault) {
	if !h.resolved.catalog.Seals(ex.Format, o) {
		return nil, fault.NotKept(o.Kind)
	}
	ids, sealed := h.providers.Seals().IDs(ex.Owner()), o.ID(r.URL.Path)
	call := &exchange.ObjectCall{Method: o.Method, Query: o.Parameters(r.URL.Query()), Content: o.Content || o.Results}
	holder := new(failover.Holder)
	if sealed == "" {
		ex.Objects, call.Path = &exchange.Objects{IDs: ids, Call: call, Base: baseOf(h, r)}, o.Below(r.URL.Path, "")
		if holder.Provider = h.resolved.catalog.Keeper(ex.Format, o); holder.Provider == nil {
			return nil, fault.NotKept(o.Kind)
		}
	} else {
		objects, account, id, ok := exchange.OpenObject(ids, o.Kind, sealed)
		objects.Call, objects.Base, call.Path = call, baseOf(h, r), o.Below(r.URL.Path, id)
		ex.Objects = objects
		call.Query = objects.Show(call.Query) // the ids of messages begin with that of their completion
		if holder.Provider, holder.APIKey = h.resolved.catalog.Holder(account); !ok || holder.Provider == nil {
			return nil, fault.NoObject("", o.Kind, observe.Clip(sealed))
		}
	}
	if guard := h.resolved.guards.Hiding(ex.Key.ID); guard != "" && o.Method != http.MethodDelete {
		return nil, fault.ReferenceBlocked(guard, "path")
	}
	return holder, nil
}
