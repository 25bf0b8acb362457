package gateway

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
)

// limitReader implements aigateway.LimitReader with the limits of sites.
type limitReader struct {
	app   *App
	users *userbase.Userbase // only sites with this userbase; nil for all
}

// limited is a key of a site with its limits.
type limited struct {
	*aigateway.Key
	chain *limiting.Chain
}

// position is the place of a key in the order of pages. IDs and names contain no blank.
func (k *limited) position() string { return k.Owner + " " + k.ID }

// cursor is the first character of cursors. The rest is the position of the last key of the
// page, which is empty if the page has no keys.
const cursor = ">"

// Limits implements aigateway.LimitReader. Pages end between two keys. The state of a user
// is on the page with the first key of the user to which the limit applies.
func (r limitReader) Limits(ctx context.Context, q aigateway.LimitQuery) (page aigateway.LimitPage, err error) {
	named := func(l *aigateway.Limit, _ aigateway.Subject) bool { return q.Limit == "" || q.Limit == l.Name }
	states := limiting.States{Ledger: true, Wants: named}
	if q.After == "" && q.User == "" && q.Key == "" && !q.Own {
		for _, site := range r.sites() {
			if err := site.resolved.limits.AddShared(ctx, &states); err != nil {
				return page, err
			}
		}
	}
	withShared := q.Key != "" && !q.Own // otherwise the first page has them
	states.Wants = func(l *aigateway.Limit, s aigateway.Subject) bool {
		return named(l, s) && (withShared || !limiting.IsShared(s))
	}
	after := strings.TrimPrefix(q.After, cursor)
	last := after
	for _, key := range r.keys(q) {
		switch at := key.position(); {
		case at <= after:
			states.Skip(key.chain, key.Key)
		case len(states.List) >= q.Most && at != last:
			return aigateway.LimitPage{States: states.List, Next: cursor + last}, nil
		default:
			if err := states.Add(ctx, key.chain, key.Key); err != nil {
				return page, err
			}
			last = at
		}
	}
	return aigateway.LimitPage{States: states.List}, nil
}

// LimitNames implements aigateway.LimitReader. Limits of other sites are among the names,
// because the sites may share the keys of a store.
func (r limitReader) LimitNames() []string {
	names := r.app.resolved.limits.Names()
	for _, site := range r.app.sites {
		names = append(names, site.resolved.limits.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sites returns the sites of the reader.
func (r limitReader) sites() (sites []*Handler) {
	for _, site := range r.app.sites {
		if r.users == nil || r.users == site.users {
			sites = append(sites, site)
		}
	}
	return sites
}

// keys returns the keys that a query selects, in the order of pages. A key of several sites
// occurs several times. Keys whose limit is not defined are left out.
func (r limitReader) keys(q aigateway.LimitQuery) (keys []limited) {
	for _, site := range r.sites() {
		for key := range site.resolved.sources.Known() {
			chain := site.resolved.limits.Of(key)
			if chain == nil || q.User != "" && q.User != key.Owner || q.Key != "" && q.Key != key.ID {
				continue
			}
			keys = append(keys, limited{key, chain})
		}
	}
	slices.SortStableFunc(keys, func(a, b limited) int {
		return cmp.Or(strings.Compare(a.Owner, b.Owner), strings.Compare(a.ID, b.ID))
	})
	return keys
}
