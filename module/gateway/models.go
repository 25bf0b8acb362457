package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// serveModels lists the names that the key may use, sorted.
func (h *handler) serveModels(answer *reply.Reply, r *http.Request) *fault.Fault {
	shape := &answer.Exchange.Request.Format.Models
	ids := h.visible(answer.Exchange.Key, r)
	more := false
	if shape.Paging != nil {
		var fault *fault.Fault
		if ids, more, fault = page(ids, shape.Paging, r.URL.Query()); fault != nil {
			return fault
		}
	}
	models := make([]modelcard.Card, len(ids))
	for i, id := range ids {
		models[i] = h.resolved.catalog.Describe(id)
	}
	answer.WriteJSON(shape.AppendList(nil, models, more))
	return nil
}

// serveModel describes the model with the name in the path, which may also be one that
// only a pattern matches.
func (h *handler) serveModel(answer *reply.Reply, r *http.Request) *fault.Fault {
	id := answer.Exchange.Request.View.Model
	m := h.resolved.catalog.Model(id)
	if len(id) > routes.LongestModel || m == nil || !answer.Exchange.Key.Allows(id) {
		return fault.UnknownModel(observe.Clip(id))
	}
	catalog.AwaitModels(r.Context(), m.Targets[0].Provider)
	answer.WriteJSON(answer.Exchange.Request.Format.Models.Append(nil, h.resolved.catalog.Describe(id)))
	return nil
}

// visible returns the names of models that a key may use, sorted.
func (h *handler) visible(key *aigateway.Key, r *http.Request) []string {
	catalog.AwaitModels(r.Context(), h.resolved.catalog.Providers...)
	return slices.DeleteFunc(h.resolved.catalog.Names(), func(name string) bool { return !key.Allows(name) })
}

// page returns the page of the sorted ids that the query asks for. more reports whether
// further ids exist in the direction of paging.
func page(ids []string, paging *format.Paging, q url.Values) (cut []string, more bool, f *fault.Fault) {
	limit, f := pageSize(paging, q)
	if f != nil {
		return nil, false, f
	}
	if end := q.Get(paging.Before); end != "" {
		i, _ := slices.BinarySearch(ids, end)
		start := max(0, i-limit)
		return ids[start:i], start > 0, nil
	}
	if previous := q.Get(paging.After); previous != "" {
		i, found := slices.BinarySearch(ids, previous)
		if found {
			i++
		}
		ids = ids[i:]
	}
	if len(ids) > limit {
		return ids[:limit], true, nil
	}
	return ids, false, nil
}

// pageSize returns the largest number of ids on the page that the query asks for.
func pageSize(paging *format.Paging, q url.Values) (int, *fault.Fault) {
	if !q.Has(paging.Limit) {
		return paging.Standard, nil
	}
	n, err := strconv.Atoi(q.Get(paging.Limit))
	if err != nil || n < 1 || n > paging.Largest {
		return 0, fault.InvalidField(paging.Limit, fmt.Sprintf("must be an integer from 1 to %d", paging.Largest))
	}
	return n, nil
}

// serveCapabilities lists the models that the key may use. For each model and each format
// of clients, it shows which fields of a request are kept, changed or lost, or how many with
// fields=count, and for each model the endpoints beside text. The parameter model, which may occur several times, selects models.
// Without it, the names of the MCP servers that the key may use follow, if there are any.
func (h *handler) serveCapabilities(answer *reply.Reply, r *http.Request) *fault.Fault {
	body, query := []byte(`{"object":"list","data":[`), r.URL.Query()
	wanted, counts := query["model"], query.Get("fields") == "count"
	for _, name := range h.visible(answer.Exchange.Key, r) {
		if len(wanted) > 0 && !slices.Contains(wanted, name) {
			continue
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = append(body, `{"model":`...)
		body = jsonscan.AppendString(body, name)
		description := h.resolved.catalog.DescriptionOf(h.resolved.catalog.Model(name))
		known := description.Fields
		if counts {
			known = description.Counts
		}
		body = append(append(body, ','), known[1:]...) // without its brace
	}
	body = append(body, ']')
	if servers := h.resolved.servers.AllowedTo(answer.Exchange.Key); len(servers) > 0 && len(wanted) == 0 {
		body = append(body, `,"mcp_servers":[`...)
		for i, server := range servers {
			if i > 0 {
				body = append(body, ',')
			}
			body = jsonscan.AppendString(body, server.Name())
		}
		body = append(body, ']')
	}
	answer.WriteJSON(append(body, '}'))
	return nil
}

// serveBilling answers with the usage of the key, for clients that have only an API key.
func (h *handler) serveBilling(answer *reply.Reply, r *http.Request) *fault.Fault {
	var left func(context.Context, *aigateway.Key, string) (*int64, error)
	if limits := h.resolved.limits.Of(answer.Exchange.Key); limits != nil {
		left = limits.Left
	}
	body, fault := h.backends.Billing.Answer(r, answer.Exchange.Key, h.backends.Store.(accounting.LedgerReader), left)
	if fault == nil {
		answer.WriteJSON(body)
	}
	return fault
}
