package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/state"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
)

// viewConfiguration returns the blocks of the global option and of the sites.
func (a *App) viewConfiguration(sites []*Handler, _ url.Values) (any, error) {
	c := state.NewConfiguration(version.Running())
	c.Add(a.Providers, a.Models, a.KeyLimits)
	for _, site := range sites {
		c.Add(site.Providers, site.Models, site.KeyLimits)
		c.AddGuards(site.resolved.guards.All())
		c.AddLabels(&site.Names)
	}
	return c, nil
}

// viewPrices returns the prices in effect of the targets of all models with exact names, or of
// some ("model", several times), now or at another time ("at"): a page by the names of models.
func viewPrices(sites []*Handler, query url.Values) (any, error) {
	at := time.Now()
	if text := query.Get("at"); text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: errors.New("at must be an RFC 3339 time")}
		}
	}
	page, err := state.ReadPage(query, largestPage)
	if err != nil {
		return nil, err
	}
	var all []state.TargetPrice
	for _, site := range sites {
		all = append(all, state.Prices(site.resolved.catalog, slices.DeleteFunc(query["model"], func(name string) bool { return name == "" }), at)...)
	}
	return state.PageOf(all, page, func(p *state.TargetPrice) string { return p.Model }), nil
}

// The largest numbers of items from which pages end.
const (
	largestPage = 1000
	largestKeys = 100
)

// viewKeys returns a page of the keys outside of the store, of all owners or of one ("user",
// whose letter case does not matter, as in usernames).
func viewKeys(sites []*Handler, query url.Values) (any, error) {
	page, err := state.ReadPage(query, largestKeys)
	if err != nil {
		return nil, err
	}
	var keys []state.Key
	for _, site := range sites {
		hosts := hostsOf(site)
		for key := range site.resolved.sources.All() {
			if owner := query.Get("user"); owner == "" || strings.EqualFold(owner, key.Owner) {
				keys = append(keys, state.KeyOf(key, hosts))
			}
		}
	}
	return state.PageOfKeys(keys, page), nil
}

// probed is the result of a probe.
type probed struct {
	Provider     string `json:"provider"`
	Answered     bool   `json:"answered"`
	Status       int    `json:"status"` // 0: there was no answer
	Milliseconds int64  `json:"milliseconds"`
}

var errNoProvider = errors.New("no provider has this name")

// viewProbe asks the provider with a name ("provider").
func viewProbe(sites []*Handler, query url.Values) (any, error) {
	name, start := query.Get("provider"), time.Now()
	for _, site := range sites {
		if status, ok := site.resolved.catalog.Probe(name); ok {
			return probed{name, status != 0, status, time.Since(start).Milliseconds()}, nil
		}
	}
	return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: errNoProvider}
}
