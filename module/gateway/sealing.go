package gateway

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/pass"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// opened is a request that is passed on, with the ids that the provider has.
type opened struct {
	*http.Request
	path     string            // below the prefix, with escapes
	endpoint *objects.Endpoint // nil if it is not about objects whose ids are sealed
}

// open opens the sealed ids in a request. An id that another client has, one that was changed and one
// of the provider get the same answer, so that nobody learns which objects exist.
func (d *passRoute) open(h *Handler, ex *exchange.Exchange, r *http.Request, path string) (o opened, refused *fault.Fault) {
	o = opened{Request: r, path: path}
	if d.IDs != pass.IDsSealed {
		return o, nil
	}
	o.endpoint = objects.Find(r.Method, path)
	if o.endpoint != nil && o.endpoint.Lists {
		return o, fault.ObjectsNotListed()
	}
	ex.Objects = &exchange.Objects{IDs: h.providers.Seals().IDs(ex.Owner())}
	of := opener{ex.Objects, seal.AccountOf(d.provider.Name, 0)}
	if o.endpoint != nil {
		var unknown string
		if o.path, unknown = o.endpoint.Replace(path, of.inPath); unknown != "" {
			return o, noObject(objects.KindOf(unknown), unknown)
		}
	}
	query, refused := of.query(r.URL.RawQuery)
	if refused == nil {
		o.Request = r.Clone(r.Context())
		o.URL.RawQuery = query
		refused = of.body(&o, min(h.MaxBody, d.Limit()))
	}
	return o, refused
}

// opener opens the sealed ids of a client at an account.
type opener struct {
	objects *exchange.Objects
	account seal.Account
}

// inPath returns the id of the provider for a sealed one of some kinds.
func (o opener) inPath(id string, kinds []string) (raw string, ok bool) {
	for _, kind := range kinds {
		if raw, ok = o.objects.Open(o.account, kind, id); ok {
			return raw, true
		}
	}
	return "", false
}

// query opens the ids among the values of a query, such as those of the object before a page.
func (o opener) query(raw string) (string, *fault.Fault) {
	parameters := strings.Split(raw, "&")
	for i, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err != nil || objects.IsWebhook(plain) {
			return "", fault.Webhook(observe.Clip(name))
		}
		text, err := url.QueryUnescape(value)
		if kind := objects.KindOf(text); err == nil && kind != "" {
			id, ok := o.objects.Open(o.account, kind, text)
			if !ok {
				return "", noObject(kind, text)
			}
			parameters[i] = name + "=" + url.QueryEscape(id)
		}
	}
	return strings.Join(parameters, "&"), nil
}

// body opens the ids in the body of a request, which then is the body without a content coding. A file
// that is uploaded is not read.
func (o opener) body(to *opened, limit int64) *fault.Fault {
	if to.ContentLength == 0 || to.endpoint != nil && to.endpoint.Uploads && request.HasForm(to.Header) {
		return nil
	}
	body, refused := request.Whole(to.Request, limit)
	if refused == nil && len(body) > 0 {
		if passthrough.IsForm(body) && request.HasForm(to.Header) {
			refused = checkForm(body)
		} else {
			body, refused = o.document(body)
		}
	}
	to.Header.Del("Content-Encoding")
	to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return refused
}

// document returns a JSON body with the ids of the provider.
func (o opener) document(body []byte) ([]byte, *fault.Fault) {
	ids, err := objects.IDs(body)
	if err != nil {
		return nil, fault.Malformed(0, err)
	}
	if member := objects.Webhook(body); member != "" {
		return nil, fault.Webhook(observe.Clip(member))
	}
	var edits []edit.Edit
	for i := range ids {
		text := jsonscan.TextOf(body[ids[i].Span.Start:ids[i].Span.End])
		id, ok := o.objects.Open(o.account, ids[i].Kind, text)
		if !ok {
			return nil, fault.NoObject(ids[i].Path, ids[i].Kind, observe.Clip(text))
		}
		edits = append(edits, edit.Edit{Span: ids[i].Span, With: jsonscan.AppendString(nil, id)})
	}
	return edit.Apply(nil, body, edits), nil
}

// checkForm refuses a form that refers to objects, whose ids are opened in JSON alone.
func checkForm(form []byte) *fault.Fault {
	names, broken := passthrough.Fields(form)
	if broken != "" {
		return fault.FormBroken(broken)
	}
	for _, name := range names {
		if objects.IsWebhook(name) {
			return fault.Webhook(observe.Clip(name))
		}
		if objects.IsReference(name) {
			return fault.InvalidField(name, "must be sent in a JSON body: ids in forms are not known to be the client's")
		}
	}
	return nil
}

func noObject(kind, id string) *fault.Fault { return fault.NoObject("", kind, observe.Clip(id)) }

// checkObjects refuses a request about objects of which it is not known whose they are.
func (d *passRoute) checkObjects(ex *exchange.Exchange, o *opened) *fault.Fault {
	switch refers := ex.View.Beyond.References; {
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
	return o.endpoint != nil && !o.endpoint.Charged && ex.Operation == translate.Pass
}
