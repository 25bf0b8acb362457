package state

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
)

// Configuration returns the blocks of the global option and of the sites.
func (s Sites) Configuration(url.Values) (any, error) {
	c := NewConfiguration(version.Running())
	c.Add(s.Global)
	for _, site := range s.All() {
		c.Add(site.Blocks)
		c.addGuards(site.Guards.All())
		c.addLabels(site.Labels)
	}
	return c, nil
}

// Caddyfile returns the configuration as a Caddyfile, with the words in which it was written: what the
// other directives of the sites do is not part of it.
func (s Sites) Caddyfile(url.Values) (any, error) {
	var parts []written.Part
	if s.Global.Written != nil {
		parts = append(parts, written.Part{Caddyfile: s.Global.Written})
	}
	for _, site := range s.All() {
		parts = append(parts, written.Part{Caddyfile: site.Written, Addresses: site.Addresses()})
	}
	return api.Caddyfile{Text: written.Text(parts)}, nil
}

// Prices returns the prices in effect of the targets of all models with exact names, or of
// some ("model", several times), now or at another time ("at"): a page by the names of models.
func (s Sites) Prices(query url.Values) (any, error) {
	moment := time.Now()
	if text := query.Get("at"); text != "" {
		var err error
		if moment, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: errors.New("at must be an RFC 3339 time")}
		}
	}
	page, err := ReadPage(query, largestPage)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(query["model"]), func(name string) bool { return name == "" })
	var all []TargetPrice
	for _, site := range s.All() {
		all = append(all, pricesOf(site.Catalog, names, moment)...)
	}
	return PageOf(all, page, func(p *TargetPrice) string { return p.Model }), nil
}

// ConfiguredKeys returns a page of the keys outside of the store, of all owners or of one ("user",
// whose letter case does not matter, as in usernames).
func (s Sites) ConfiguredKeys(query url.Values) (any, error) {
	page, err := ReadPage(query, largestKeys)
	if err != nil {
		return nil, err
	}
	var keys []Key
	for _, site := range s.All() {
		hosts := site.Hosts()
		for key := range site.Keys.All() {
			if owner := query.Get("user"); owner == "" || strings.EqualFold(owner, key.Owner) {
				keys = append(keys, KeyOf(key, hosts))
			}
		}
	}
	return pageOfKeys(keys, page), nil
}

// probed is the result of a probe.
type probed struct {
	Provider     string `json:"provider"`
	Answered     bool   `json:"answered"`
	Status       int    `json:"status"` // 0: there was no answer
	Milliseconds int64  `json:"milliseconds"`
}

var errNoProvider = errors.New("no provider has this name")

// Probe asks the provider with a name ("provider").
func (s Sites) Probe(query url.Values) (any, error) {
	name, start := query.Get("provider"), time.Now()
	for _, site := range s.All() {
		if status, ok := site.Catalog.Probe(name); ok {
			return probed{name, status != 0, status, time.Since(start).Milliseconds()}, nil
		}
	}
	return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: errNoProvider}
}
