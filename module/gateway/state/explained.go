package state

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Explain shows where the requests for a model go. The query has the name of the model
// ("model"), and optionally the format of the client ("format") and the id of a key ("key").
func (s Sites) Explain(query url.Values) (any, error) {
	client := formats.Unspecified()
	if name := query.Get("format"); name != "" {
		client = formats.Of(translate.Format(name))
	}
	if client == nil || len(client.Client.Endpoints) == 0 {
		return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("unknown format; known are %v", formats.Names())}
	}
	problem := errors.New("no model has this name")
	for _, site := range s.All() {
		answer := explain(site.Catalog, query.Get("model"), client)
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
func (site *Site) explainKey(id, model string) *api.ExplainedKey {
	if number, err := strconv.ParseInt(id, 10, 64); err == nil {
		id = aigateway.StoredKeyID(number)
	}
	key := site.Keys.ByID(id)
	if key == nil {
		return nil
	}
	limits := site.KeyLimits.Of(key)
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
