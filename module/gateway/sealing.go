package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/pass"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// opened is a request that is passed on, with the ids that the provider has.
type opened struct {
	*http.Request
	path     string            // below the prefix, with escapes
	endpoint *objects.Endpoint // nil if it is not about objects whose ids are sealed
}

// open opens the sealed ids in a request.
func (d *passRoute) open(h *handler, ex *exchange.Exchange, r *http.Request, path string) (o opened, refused *fault.Fault) {
	o = opened{Request: r, path: path}
	if d.IDs != pass.IDsSealed {
		return o, nil
	}
	o.endpoint = objects.Find(r.Method, path)
	if o.endpoint != nil && o.endpoint.Lists {
		return o, fault.ObjectsNotListed()
	}
	ex.Objects = &exchange.Objects{IDs: h.providers.Seals().IDs(ex.Owner())}
	ids := pass.SealedIDs{Objects: ex.Objects, Account: seal.AccountOf(d.provider.Name, 0)}
	o.Request, o.path, refused = ids.Open(r, path, o.endpoint, min(h.config.MaxBody, d.Limit()))
	return o, refused
}

// checkObjects refuses a request about objects of which it is not known whose they are.
func (d *passRoute) checkObjects(ex *exchange.Exchange, o *opened) *fault.Fault {
	switch refers := ex.Request.View.Beyond.References; {
	case o.endpoint == nil && leavesNothing(ex):
		return nil
	case o.endpoint == nil:
		return d.RefuseObject(o.Method, o.path)
	case refers != nil && refers.Unowned != "":
		return fault.NeedsOwner(refers.Unowned)
	}
	return nil
}

// isFree reports whether a request is about objects only: it uses no model, and costs nothing.
func (o *opened) isFree(ex *exchange.Exchange) bool {
	return o.endpoint != nil && !o.endpoint.Charged && ex.Request.Operation == translate.Pass
}
