package gateway

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// firstUser is the command that creates a user who can log in and make keys. It finds a gateway that
// runs by itself.
const firstUser = "caddy ai-gateway user add root --role root"

// warnUnusable logs one warning with the remedy if a site has neither keys nor users. Such
// a site answers every request 401.
func (a *app) warnUnusable() {
	ctx, cancel := context.WithTimeout(a.ctx, openPatience)
	defer cancel()
	if slices.ContainsFunc(a.sites, func(h *handler) bool { return h.unusable(ctx) }) {
		a.logger.Warn("nobody can use this gateway yet: it has neither a key nor a user who could make one",
			zap.String("first_user", firstUser))
	}
}

// warnTeams logs which teams of the stores cannot be used with the limits of a site.
func (a *app) warnTeams() {
	ctx, cancel := context.WithTimeout(a.ctx, openPatience)
	defer cancel()
	for _, h := range a.sites {
		if store := h.backends.Store; store != nil && store.Complete() {
			h.resolved.limits.WarnTeams(ctx, store.Teams())
		}
	}
}

// warnFolder logs that Caddy's data directory depends on the folder in which Caddy is started: the
// next start may be in another one, without the users, keys and usage of this one.
func (a *app) warnFolder() {
	if folder := caddy.AppDataDir(); !filepath.IsAbs(folder) {
		absolute, _ := filepath.Abs(folder)
		a.logger.Warn("the data directory of Caddy is relative to the working directory: set HOME, or XDG_DATA_HOME to an absolute path", zap.String("folder", absolute))
	}
}

// unusable reports whether a site has neither a key nor a user. It returns false if the
// store cannot be read, because the store may have both.
func (h *handler) unusable(ctx context.Context) bool {
	store := h.backends.Store
	if store == nil || !store.Complete() || slices.ContainsFunc(h.resolved.sources, mayHaveKeys) {
		return false
	}
	_, users, err := store.Users(ctx, aigateway.Page{Limit: 1})
	return err == nil && users == 0
}

// mayHaveKeys reports whether a source has a key, or may have one. It returns false for a
// store: unusable counts the users of a store, to whom its keys belong.
func mayHaveKeys(source aigateway.KeySource) bool {
	switch source := source.(type) {
	case aigateway.Store:
		return false
	case aigateway.KeyLister:
		for range source.All() {
			return true
		}
		return false
	}
	return true
}
