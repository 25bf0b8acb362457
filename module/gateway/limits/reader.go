package limits

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// Reader implements aigateway.LimitReader with the limits of sites. Its functions are called
// for each reading.
type Reader struct {
	Sites func() []Site   // the sites whose limits are read
	Names func() []string // of the limits of all sites, in any order; a name may occur several times
	Tags  func() []string // the names of the tags of all sites, likewise
}

// Site is a site with its limits.
type Site struct {
	Limits *Limits
	Keys   iter.Seq[*aigateway.Key] // the known keys, to which the limits apply
	ByID   func(id string) *aigateway.Key
}

// keys returns the known keys, or only the one with an id.
func (s *Site) keys(id string) iter.Seq[*aigateway.Key] {
	if id == "" {
		return s.Keys
	}
	return func(yield func(*aigateway.Key) bool) {
		if key := s.ByID(id); key != nil {
			yield(key)
		}
	}
}

// limited is a key of a site with its limits.
type limited struct {
	*aigateway.Key
	chain *Chain
}

// position is the place of a key in the order of pages. IDs and names contain no blank.
func (k *limited) position() string { return k.Owner + " " + k.ID }

// cursor is the first character of cursors. The rest is the position of the last key of the
// page, which is empty if the page has no keys.
const cursor = ">"

// Limits implements aigateway.LimitReader. Pages end between two keys. The state of a user
// is on the page with the first key of the user to which the limit applies.
func (r Reader) Limits(ctx context.Context, q aigateway.LimitQuery) (page aigateway.LimitPage, err error) {
	named := func(l *aigateway.Limit, _ aigateway.Subject) bool { return q.Limit == "" || q.Limit == l.Name }
	all := states{ledger: true, wants: named}
	if q.After == "" && q.User == "" && q.Key == "" && !q.Own {
		for _, site := range r.Sites() {
			if err := all.addShared(ctx, &site); err != nil {
				return page, err
			}
		}
	}
	withShared := q.Key != "" && !q.Own // otherwise the first page has them
	all.wants = func(l *aigateway.Limit, s aigateway.Subject) bool {
		return named(l, s) && (withShared || !s.Per.IsShared())
	}
	start := strings.TrimPrefix(q.After, cursor)
	last := start
	for _, key := range r.keys(q) {
		switch position := key.position(); {
		case position <= start:
			all.choose(key.chain, key.Key)
		case len(all.list) >= q.Most && position != last:
			return aigateway.LimitPage{States: all.list, Next: cursor + last}, nil
		default:
			if err := all.add(ctx, key.chain, key.Key); err != nil {
				return page, err
			}
			last = position
		}
	}
	return aigateway.LimitPage{States: all.list}, nil
}

// LimitNames implements aigateway.LimitReader. Limits of other sites are among the names,
// because the sites may share the keys of a store.
func (r Reader) LimitNames() []string {
	names := r.Names()
	slices.Sort(names)
	return slices.Compact(names)
}

// Unusable implements aigateway.LimitReader.
func (r Reader) Unusable(id string) error {
	for _, site := range r.Sites() {
		if key := site.ByID(id); key != nil && site.Limits.Of(key) == nil {
			return site.Limits.Problem(key)
		}
	}
	return nil
}

// CheckTeam implements aigateway.LimitReader.
func (r Reader) CheckTeam(team *aigateway.Team) error {
	for _, site := range r.Sites() {
		if err := site.Limits.CheckTeam(team); err != nil {
			return err
		}
	}
	return nil
}

// CheckKey implements aigateway.LimitReader.
func (r Reader) CheckKey(key *aigateway.Key) error {
	for _, tag := range key.Tags {
		if !slices.Contains(r.Tags(), tag.Name) {
			return fmt.Errorf("tags of the configuration does not list '%s'", tag.Name)
		}
	}
	for _, site := range r.Sites() {
		checked := *key
		if known := site.ByID(key.ID); known != nil {
			checked.Owner = known.Owner
			if known.Limit == key.Limit {
				checked.Team = known.Team
			}
		}
		if err := site.Limits.CheckOwn(&checked, site.Limits.own.ofUser(checked.Owner)); err != nil {
			return err
		}
	}
	return nil
}

// CheckUser implements aigateway.LimitReader.
func (r Reader) CheckUser(name string, limit *aigateway.Limit) error {
	for _, site := range r.Sites() {
		if err := site.Limits.CheckOwn(&aigateway.Key{Owner: name}, limit); err != nil {
			return err
		}
		for key := range site.Keys {
			if key.Owner != name {
				continue
			}
			if err := site.Limits.CheckOwn(key, limit); err != nil {
				return fmt.Errorf("with the limit of key '%s': %w", key.ID, err)
			}
		}
	}
	return nil
}

// Levels returns the use of the limits per group and per gateway, as far as the counters know
// it.
func (r Reader) Levels(ctx context.Context) (levels []metrics.LimitLevel) {
	var all states
	for _, site := range r.Sites() {
		// A scrape shows no limits while the counters do not answer, which is logged elsewhere.
		_ = all.addShared(ctx, &site)
	}
	for i := range all.list {
		s := &all.list[i]
		unit := 1.0
		if s.Currency != "" {
			unit = 1e6
		}
		levels = append(levels, metrics.LimitLevel{
			Limit: s.Limit, Scope: string(s.Per), Rule: s.Rule,
			Used: float64(s.Used) / unit, Reserved: float64(s.Reserved) / unit, Left: float64(s.Left) / unit,
		})
	}
	return levels
}

// keys returns the keys that a query selects, in the order of pages. A key of several sites
// occurs several times. Keys whose limit is not defined are left out.
func (r Reader) keys(q aigateway.LimitQuery) (keys []limited) {
	for _, site := range r.Sites() {
		for key := range site.keys(q.Key) {
			chain := site.Limits.Of(key)
			if chain == nil || q.User != "" && q.User != key.Owner {
				continue
			}
			if q.Customer != "" {
				labelled := *key
				labelled.Customer = q.Customer
				key = &labelled
			}
			keys = append(keys, limited{key, chain})
		}
	}
	slices.SortStableFunc(keys, func(a, b limited) int {
		return cmp.Or(strings.Compare(a.Owner, b.Owner), strings.Compare(a.ID, b.ID))
	})
	return keys
}
