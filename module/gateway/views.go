package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/state"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// views are the parts of the state of sites that operators may see: the administrator of
// the machine those of all sites, by the admin API, and administrators those of the sites with
// their accounts. Both have the same path: "/api/v1/status".
var views = map[string]view{
	"status":  viewStatus,
	"targets": viewTargets,
	"explain": viewExplained,
}

// view returns a part of the state of sites, by the parameters of a query.
type view func(sites []*Handler, query url.Values) (any, error)

// viewsOf returns the views of the sites with a set of backends: views, and those that only accounts
// show.
func (a *App) viewsOf(set *backends.Set) map[string]aigateway.View {
	bound, all := make(map[string]aigateway.View), maps.Clone(views)
	all["configuration"], all["prices"], all["keys"], all["probe"], all["health"] = a.viewConfiguration, viewPrices, viewKeys, viewProbe, viewHealth
	for name, view := range all {
		bound[name] = func(query url.Values) (any, error) {
			sites := slices.Clone(a.sites)
			return view(slices.DeleteFunc(sites, func(site *Handler) bool { return site.backends != set }), query)
		}
	}
	return bound
}

// started is when the process started.
var started = time.Now()

// viewStatus returns the state of the gateway.
func viewStatus(sites []*Handler, _ url.Values) (any, error) {
	build := version.Running()
	shortVersion, _ := caddy.Version()
	s := api.Status{
		Build:   api.Build{Version: version.Of(build), Revision: version.Revision(build), Caddy: shortVersion, Go: runtime.Version()},
		Started: started.UTC().Truncate(time.Second), Ready: true, Running: drain.Process.Running(), Ended: drain.Process.Ended(),
		Degraded: []api.DegradedPart{}, Providers: []api.ProviderStatus{},
	}
	broken := make(map[string]error)
	available := make(map[string]bool)
	var newest *tables.Tables
	for _, site := range sites {
		newest = site.resolved.catalog.Tables()
		if reason := site.unready(); reason != "" {
			s.Ready, s.Reason = false, reason
		}
		maps.Copy(broken, degraded(site))
		for name, is := range state.Providers(site.resolved.catalog) {
			available[name] = available[name] || is
		}
		if lagging, ok := site.backends.Store.(accounting.LaggingReader); ok {
			if age, known := lagging.Behind(); known {
				s.Behind = new(max(int64(age/time.Second), value(s.Behind)))
			}
		}
	}
	asOf, old := newest.AsOf(time.Now())
	s.Catalog = api.CatalogAge{AsOf: asOf.Format(time.DateOnly), Old: old}
	for _, part := range partsOf(broken) {
		s.Degraded = append(s.Degraded, api.DegradedPart{Part: part, Reason: broken[part].Error()})
	}
	for _, name := range slices.Sorted(maps.Keys(available)) {
		s.Providers = append(s.Providers, api.ProviderStatus{Name: name, Available: available[name]})
	}
	return s, nil
}

// value returns the value of a pointer, 0 for nil.
func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// viewTargets returns a page of the targets.
func viewTargets(sites []*Handler, query url.Values) (any, error) {
	page, err := state.ReadPage(query, largestPage)
	if err != nil {
		return nil, err
	}
	var all []api.Target
	for _, site := range sites {
		all = append(all, state.Targets(site.resolved.catalog)...)
	}
	return state.PageOfTargets(all, page), nil
}

// viewExplained shows where the requests for a model go. The query has the name of the model
// ("model"), and optionally the format of the client ("format") and the id of a key ("key").
func viewExplained(sites []*Handler, query url.Values) (any, error) {
	client := formats.Unspecified()
	if name := query.Get("format"); name != "" {
		client = formats.Of(translate.Format(name))
	}
	if client == nil || len(client.Client.Endpoints) == 0 {
		return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("unknown format; known are %v", formats.Names())}
	}
	problem := errors.New("no model has this name")
	for _, site := range sites {
		answer := state.Explain(site.resolved.catalog, query.Get("model"), client)
		if answer == nil {
			continue
		}
		if id := query.Get("key"); id != "" {
			if answer.Key = site.explainKey(id, answer.Name); answer.Key == nil { // it may be a key of another site
				problem = errNoKey
				continue
			}
		}
		return answer, nil
	}
	return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: problem}
}

var errNoKey = errors.New("no key has this id: the name of a key of the configuration or of a keys file, or the number of a key of a user, which key list shows")

// explainKey explains the key with an id, which may be the number of a key of a user. It
// returns nil if there is no such key.
func (h *Handler) explainKey(id, model string) *api.ExplainedKey {
	if number, err := strconv.ParseInt(id, 10, 64); err == nil {
		id = aigateway.StoredKeyID(number)
	}
	key := h.resolved.sources.ByID(id)
	if key == nil {
		return nil
	}
	limits := h.resolved.limits.Of(key)
	return &api.ExplainedKey{ID: id, Allowed: limits != nil && key.Allows(model), Limits: explainLimits(limits)}
}

// explainLimits returns the limits of a chain, which is nil if the limit of the key is not defined.
func explainLimits(chain *limits.Chain) []api.ExplainedLimit {
	all := []api.ExplainedLimit{}
	if chain == nil {
		return all
	}
	for _, l := range chain.Limits() {
		all = append(all, api.ExplainedLimit{Name: l.Name, Per: cmp.Or(l.Per, aigateway.PerUser), Rules: l.LimitRules.String()})
	}
	return all
}
