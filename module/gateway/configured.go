package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
// some ("model", several times), now or at another time ("at"): a page of about "limit" prices
// after the name of a model ("after").
func viewPrices(sites []*Handler, query url.Values) (any, error) {
	at := time.Now()
	if text := query.Get("at"); text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: errors.New("at must be an RFC 3339 time")}
		}
	}
	all := []state.TargetPrice{}
	for _, site := range sites {
		all = append(all, state.Prices(site.resolved.catalog, slices.DeleteFunc(query["model"], func(name string) bool { return name == "" }), at)...)
	}
	size, err := strconv.Atoi(query.Get("limit"))
	if err != nil || size > mostPrices {
		size = mostPrices
	}
	return state.PageOfPrices(all, query.Get("after"), max(size, 1)), nil
}

// mostPrices is the number of prices from which a page ends.
const mostPrices = 1000

// mostKeys is the largest number of keys in a page.
const mostKeys = 100

// viewKeys returns a page of the keys outside of the store, of all owners or of one ("user"),
// after an id ("after").
func viewKeys(sites []*Handler, query url.Values) (any, error) {
	size, err := strconv.Atoi(query.Get("limit"))
	if err != nil || size > mostKeys {
		size = mostKeys
	}
	var keys []state.Key
	for _, site := range sites {
		for key := range site.resolved.sources.All() {
			if owner := query.Get("user"); owner == "" || owner == key.Owner {
				keys = append(keys, state.KeyOf(key))
			}
		}
	}
	return state.PageOfKeys(keys, query.Get("after"), max(size, 1)), nil
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
