package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/explain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// The paths of the admin API that show where requests go.
const (
	targetsPath = "/ai_gateway/targets"
	explainPath = "/ai_gateway/explain"
)

// siteTargets are the targets of a site.
type siteTargets struct {
	Targets []explain.Target `json:"targets"`
}

// serveTargets answers with the targets of all sites.
func (a *App) serveTargets(w http.ResponseWriter, _ *http.Request) error {
	var all siteTargets
	for _, site := range a.sites {
		for _, t := range explain.Targets(site.resolved.catalog) {
			if !slices.ContainsFunc(all.Targets, func(known explain.Target) bool { return sameTarget(known, t) }) {
				all.Targets = append(all.Targets, t)
			}
		}
	}
	return writeAdmin(w, all)
}

func sameTarget(a, b explain.Target) bool {
	return a.Provider == b.Provider && a.Upstream == b.Upstream && a.APIKey == b.APIKey
}

// explainedKey explains a key for the requests of a model.
type explainedKey struct {
	ID      string           `json:"id"`
	Allowed bool             `json:"allowed"` // to use the model
	Limits  []explainedLimit `json:"limits"`  // the innermost first
}

// explainedLimit is a limit that applies to a key.
type explainedLimit struct {
	Name  string          `json:"name"`
	Per   aigateway.Scope `json:"per"`
	Rules string          `json:"rules"` // in words
}

// explained is the answer of explainPath.
type explained struct {
	*explain.Model
	Key *explainedKey `json:"key,omitempty"`
}

// serveExplain explains where the requests for a model go. The query has the name of the
// model ("model"), the format of the client ("format"), and optionally the id of a key
// ("key").
func (a *App) serveExplain(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	client := formats.Of(translate.Format(query.Get("format")))
	if client == nil {
		return caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("unknown format; known are %v", formats.Names())}
	}
	problem := errors.New("no model has this name")
	for _, site := range a.sites {
		m := explain.ModelOf(site.resolved.catalog, query.Get("model"), client)
		if m == nil {
			continue
		}
		answer := explained{Model: m}
		if id := query.Get("key"); id != "" {
			if answer.Key = site.explainKey(id, m.Name); answer.Key == nil { // it may be a key of another site
				problem = errNoKey
				continue
			}
		}
		return writeAdmin(w, answer)
	}
	return caddy.APIError{HTTPStatus: http.StatusNotFound, Err: problem}
}

var errNoKey = errors.New("no key has this id: the name of a key of the configuration or of a keys file, or the number of a key of a user, which key list shows")

// explainKey explains the key with an id, which may be the number of a key of a user. It
// returns nil if there is no such key.
func (h *Handler) explainKey(id, model string) *explainedKey {
	if number, err := strconv.ParseInt(id, 10, 64); err == nil {
		id = aigateway.StoredKeyID(number)
	}
	key := h.resolved.sources.ByID(id)
	if key == nil {
		return nil
	}
	return &explainedKey{ID: id, Allowed: key.Allows(model), Limits: explainLimits(h.resolved.limits.Of(key))}
}

func explainLimits(chain *limiting.Chain) []explainedLimit {
	all := []explainedLimit{}
	for _, l := range chain.Limits() {
		all = append(all, explainedLimit{l.Name, cmp.Or(l.Per, aigateway.PerUser), l.LimitRules.String()})
	}
	return all
}

func writeAdmin(w http.ResponseWriter, answer any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(answer)
}
