package state

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Explain shows where the requests for a model go. The query has the name of the model
// ("model"), and optionally the format of the client ("format"), the id of a key ("key"), and the customer
// and the session of requests ("customer", "session"), which decide about shares, and the host or address of
// a site ("site"). Of several sites with the model and the key, the first one decides whose model has just
// this name, else the first one. request is the body of a request, nil for none: it decides about the
// conditions of targets. It has no headers.
func (s Sites) Explain(query url.Values, request []byte) (any, error) {
	client := formats.Unspecified()
	if name := query.Get("format"); name != "" {
		client = formats.Of(translate.Format(name))
	}
	if client == nil || len(client.Client.Endpoints) == 0 {
		return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("unknown format; known are %v", formats.Names())}
	}
	x, names, err := s.find(query)
	if err != nil {
		return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: err}
	}
	x.ex.Request.Format = client
	if customer := query.Get("customer"); customer != "" {
		labelled := *x.ex.Key
		labelled.Customer = customer
		x.ex.Key = &labelled
	}
	x.seeds = seedsOf(x.model, x.ex.Key, query.Get("session"))
	if request != nil {
		if err := x.take(request); err != nil {
			return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: err}
		}
	}
	answer := x.explain()
	answer.Site = siteOf(x.site.Addresses(), names)
	if x.ex.Key.ID != "" {
		answer.Key = x.explainKey()
	}
	return answer, nil
}

// find returns what a query explains at the site that decides, and the addresses of all sites that may.
func (s Sites) find(query url.Values) (best *explanation, names []string, problem error) {
	name, place := query.Get("model"), query.Get("site")
	sites := slices.DeleteFunc(s.All(), func(site Site) bool { return place != "" && !site.isNamed(place) })
	problem = errNoModel
	if place != "" && len(sites) == 0 {
		problem = errNoSite
	}
	isExact := func(m *catalog.Model) bool { return strings.EqualFold(string(m.Pattern), name) }
	for _, site := range sites {
		m := site.Catalog.Model(name)
		if m == nil {
			continue
		}
		key := new(aigateway.Key)
		if id := query.Get("key"); id != "" {
			if key = site.keyOf(id); key == nil { // it may be a key of another site
				problem = errNoKey
				continue
			}
		}
		names = append(names, site.Addresses()...)
		if best == nil || isExact(m) && !isExact(best.model) {
			best = &explanation{site: &site, model: m}
			best.ex.Key, best.ex.Request.View.Model = key, name
		}
	}
	if best == nil {
		return nil, nil, problem
	}
	return best, names, nil
}

// isNamed reports whether an operator knows the site by a name: a host, or an address with or without its scheme.
func (site *Site) isNamed(name string) bool {
	return slices.ContainsFunc(slices.Concat(site.Hosts(), site.Addresses()), func(known string) bool {
		_, bare, _ := strings.Cut(known, "://")
		return strings.EqualFold(known, name) || bare != "" && strings.EqualFold(bare, name)
	})
}

// siteOf returns the site with some of all addresses.
func siteOf(own, all []string) api.ExplainedSite {
	isOwn := func(address string) bool { return slices.Contains(own, address) }
	return api.ExplainedSite{Addresses: append([]string{}, own...), Others: append([]string{}, slices.DeleteFunc(all, isOwn)...)}
}

// take makes a request with a body the example.
func (x *explanation) take(body []byte) error {
	model := x.ex.Request.View.Model
	view, refused := x.ex.Request.Format.Requests.Inspect(body, translate.Generate)
	if refused != nil {
		return fmt.Errorf("reading the request: %s", refused.Message)
	}
	x.ex.Request.View, x.ex.Request.Body, x.ex.Request.Client = view, body, make(http.Header)
	x.ex.Request.View.Model = model
	x.example = conditions.Example(&x.ex)
	return nil
}

var (
	errNoModel = errors.New("no model has this name")
	errNoSite  = errors.New("no site has this host or address")
	errNoKey   = errors.New("no key has this id: the name of a key of the configuration or of a keys file, or the number of a key of a user, which key list shows")
)

// keyOf returns the key with an id, which may be the number of a key of a user. It returns nil if
// there is no such key.
func (site *Site) keyOf(id string) *aigateway.Key {
	if number, ok := aigateway.StoredKeyNumber(id); ok {
		id = aigateway.StoredKeyID(number)
	}
	return site.Keys.ByID(id)
}

// explainKey explains the key for the requests.
func (x *explanation) explainKey() *api.ExplainedKey {
	key, model := x.ex.Key, x.ex.Request.View.Model
	chain := x.site.KeyLimits.Of(key)
	reason := refusal(key, chain, model)
	if reason == "" {
		reason = x.site.KeyLimits.For(key, model).Refuses(&x.ex, x.asked(), x.site.Catalog)
	}
	return &api.ExplainedKey{
		ID: key.ID, Allowed: reason == "", Reason: reason, Limits: explainLimits(chain),
		Priority: x.site.KeyLimits.Priority(key).String(),
	}
}

// asked returns the model with the targets that take the example, or all if there is none or no target does.
func (x *explanation) asked() *catalog.Model {
	if x.example == nil {
		return x.model
	}
	ruledOut := func(t *catalog.Target) bool { return !t.Takes(x.example) }
	if !slices.ContainsFunc(x.model.Targets, func(t catalog.Target) bool { return !ruledOut(&t) }) {
		return x.model
	}
	return x.model.Without(exchange.ByCondition, ruledOut)
}

// refusal returns in words why a key with the chain of its limits may not use a model, "" if it may.
func refusal(key *aigateway.Key, chain *limits.Chain, model string) string {
	own := aigateway.Key{Models: key.Models}
	switch {
	case key.Disabled:
		return "it or its user is disabled"
	case key.Expired(time.Now()):
		return "it has expired at " + key.Expires.UTC().Format(time.RFC3339)
	case chain == nil:
		return "its limit '" + key.Limit + "' is not defined or cannot be applied"
	case !own.Allows(model):
		return "its models are " + words(key.Models)
	case !key.Allows(model):
		return "the models of its team are " + words(key.Team.Models)
	}
	return ""
}

// words returns patterns as in a Caddyfile.
func words(patterns []aigateway.Pattern) string {
	all := make([]string, len(patterns))
	for i, p := range patterns {
		all[i] = string(p)
	}
	return strings.Join(all, " ")
}

// explainLimits returns the limits of a chain, which is nil if the limit of the key is not defined.
func explainLimits(chain *limits.Chain) []api.ExplainedLimit {
	all := []api.ExplainedLimit{}
	if chain == nil {
		return all
	}
	for _, l := range chain.Limits() {
		all = append(all, api.ExplainedLimit{Name: l.Name, Scope: cmp.Or(l.Per, aigateway.PerUser), Rules: l.LimitRules.String()})
	}
	return all
}
