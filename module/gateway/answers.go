package gateway

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// clearAnswers removes the cached answers that a key has alone or shares with its user. Those that
// all keys share are not removed.
func clearAnswers(h *handler, answer *reply.Reply, r *http.Request) *fault.Fault {
	if h.answers == nil {
		return fault.NotServed(aigateway.PathPrefix(r), routes.CachePath, "no model has a cache of answers")
	}
	removed, err := h.answers.Clear(cache.Scopes(answer.Exchange.Key)...)
	if err != nil {
		return fault.CacheUnavailable(err)
	}
	answer.WriteJSON(fmt.Appendf(nil, `{"removed":%d}`, removed))
	return nil
}

// cachePath is the path of the admin API that removes cached answers.
const cachePath = adminPath + "cache"

// clearAllAnswers removes the cached answers of all sites.
func clearAllAnswers(a *app, w http.ResponseWriter, r *http.Request) error {
	for _, same := range a.byDatabase() {
		if err := audit(r, same[0].Store, aigateway.AuditEntry{Action: "cache.clear", Object: "cache"}); err != nil {
			return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
	}
	var answer api.Removed
	cleared := make(map[exchange.CachedAnswers]bool) // sites share a memory
	for _, site := range a.sites {
		if site.answers == nil || cleared[site.answers] {
			continue
		}
		cleared[site.answers] = true
		removed, err := site.answers.Clear()
		if answer.Removed += removed; err != nil {
			return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: fmt.Errorf("clearing the cache: %w", err)}
		}
	}
	return writeAdmin(w, answer)
}
