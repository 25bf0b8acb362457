package store

import (
	"cmp"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// snapshot contains all keys of the database at one time. It is replaced, never
// changed; only its index is made when it is needed.
type snapshot struct {
	state
	database string // the identity of the database
	loaded   bool   // the keys were read over the current connection
	keys     map[aigateway.Digest]*cachedKey
	teams    map[string]cachedTeam // by name
	rules    map[string]userRules  // of the users who have some, by name

	indexing sync.Once
	ids      map[string]*cachedKey // the keys by their IDs, once one is asked for
}

// byID returns the key with an ID, nil if there is none. Lists of keys ask for many of them.
func (k *snapshot) byID(id string) *cachedKey {
	k.indexing.Do(func() {
		k.ids = make(map[string]*cachedKey, len(k.keys))
		for _, cached := range k.keys {
			if !cached.replaced {
				k.ids[cached.key.ID] = cached
			}
		}
	})
	return k.ids[id]
}

// cachedTeam is a team of a snapshot.
type cachedTeam struct {
	*aigateway.Team
	damaged bool // its models or rules cannot be read, so its keys are disabled
}

// cachedKey is a key of a snapshot.
type cachedKey struct {
	key       aigateway.Key
	id, owner int64
	used      *atomic.Bool // the key was used since writeUses; both secrets and the next snapshot share it
	presented *atomic.Bool // this secret was used; the next snapshot shares it
	replaced  bool         // Digest is that of the secret before a rotation: another entry has the present one
}

// lookup returns the key with this digest, nil if there is none, and marks it as used.
// It writes only a mark that is not set yet, about once a minute, so that requests on
// several processors do not compete for the cache line.
func (k *snapshot) lookup(digest aigateway.Digest) *aigateway.Key {
	cached := k.keys[digest]
	if cached == nil || !cached.key.Matches(digest) {
		return nil
	}
	if !cached.key.Disabled && !(cached.used.Load() && cached.presented.Load()) {
		cached.used.Store(true)
		cached.presented.Store(true)
	}
	return &cached.key
}

// takeUsed returns the keys that were used since the previous call.
func (k *snapshot) takeUsed() (used []*cachedKey) {
	for _, key := range k.keys {
		if key.used.Swap(false) {
			used = append(used, key)
		}
	}
	return used
}

// inherit makes the keys of a new snapshot share the marks of uses with the keys of the
// previous snapshot, so that uses that are not written yet are not lost. The use of a key
// outlives its secret; that of a secret does not.
func inherit(keys map[aigateway.Digest]*cachedKey, previous *snapshot) {
	for digest, cached := range keys {
		old := previous.keys[digest]
		if old != nil && old.id == cached.id {
			cached.used, cached.presented = old.used, old.presented
		} else if old = previous.byID(cached.key.ID); old != nil {
			cached.used = old.used
		}
	}
}

// readSnapshot reads the state, and then all keys. A change between the two readings
// causes another reading, because it changes the state.
func readSnapshot(db database.Statements, old *snapshot) (*snapshot, error) {
	now, err := readState(db)
	if err != nil {
		return nil, err
	}
	next := &snapshot{database: old.database, loaded: true, state: now}
	if next.teams, err = readTeams(db); err != nil {
		return nil, err
	}
	if next.rules, err = readUserRules(db, aigateway.AnyUser); err != nil {
		return nil, err
	}
	next.keys, err = next.readKeys(db, aigateway.AnyUser, old)
	return next, err
}

// dateBudgets sets since when the budgets of users, teams and keys have counted without a gap: since now,
// unless the snapshot before has a budget of the same subject that counts as it does. Budgets of the first
// snapshot have no earlier counts.
func (k *snapshot) dateBudgets(old *snapshot) {
	if old.keys == nil {
		return
	}
	now := time.Now()
	for name, rules := range k.rules {
		if earlier := old.rules[name].limit; rules.limit != earlier {
			rules.limit.BudgetSince = budgetSince(earlier, rules.limit, now)
		}
	}
	for name, team := range k.teams {
		if earlier := old.teams[name].Team; team.Team != earlier && earlier != nil {
			team.BudgetSince = budgetSince(earlier.Limit(), team.Limit(), now)
		}
	}
	for digest, cached := range k.keys {
		own := cached.key.Own
		if own == nil || !own.Budget.IsSet() || old.keys[digest] == cached {
			continue
		}
		if earlier := old.byID(cached.key.ID); earlier != nil { // a new key has no counts
			own.BudgetSince = budgetSince(earlier.key.Own, own, now)
		}
	}
}

// budgetSince returns Limit.BudgetSince of a limit whose subject had another one before. Both may be nil.
func budgetSince(earlier, limit *aigateway.Limit, now time.Time) time.Time {
	switch {
	case limit == nil || !limit.Budget.IsSet():
		return time.Time{}
	case earlier != nil && earlier.Budget.CountsAs(&limit.Budget):
		return earlier.BudgetSince
	}
	return now
}

// userRules are the own rules of a user.
type userRules struct {
	user  int64
	limit *aigateway.Limit
}

// readUserRules reads the own rules of a user, or of all users. Rules that are invalid become a
// limit without rules, which no site can apply, so that the keys of the user are refused.
func readUserRules(db database.Statements, user int64) (map[string]userRules, error) {
	all := make(map[string]userRules)
	err := db.Each(func(row database.Scanner) error {
		rules, name, damaged := userRules{limit: new(aigateway.Limit)}, "", false
		err := row.Scan(&rules.user, &name, rulesColumn{&rules.limit.LimitRules, &damaged})
		if limit := aigateway.OwnLimit(aigateway.PerUser, rules.limit.LimitRules); limit != nil || damaged {
			rules.limit = cmp.Or(limit, rules.limit)
			all[name] = rules
		}
		return err
	}, `SELECT id, name, rules FROM gateway_users WHERE rules <> '{}' AND ($1 = 0 OR id = $1)`, user)
	return all, err
}

func readTeams(db database.Statements) (map[string]cachedTeam, error) {
	teams := make(map[string]cachedTeam)
	err := db.Each(func(row database.Scanner) error {
		team := cachedTeam{Team: new(aigateway.Team)}
		var err error
		team.damaged, err = scanTeam(row, team.Team)
		teams[team.Name] = team
		return err
	}, `SELECT `+teamColumns+` FROM gateway_teams t`)
	return teams, err
}

// readSnapshotAfter is readSnapshot in a transaction that has changed only the keys of
// one user, or teams if the owner is AnyUser. first is the state before the transaction. If
// the previous snapshot has the same state, readSnapshotAfter copies teams and the keys of
// other users from it.
func readSnapshotAfter(tx database.Statements, owner int64, first state, old *snapshot) (*snapshot, error) {
	if owner == aigateway.AnyUser || !old.loaded || old.state != first {
		return readSnapshot(tx, old)
	}
	now, err := readState(tx)
	if err != nil {
		return nil, err
	}
	next := &snapshot{database: old.database, loaded: true, state: now, keys: maps.Clone(old.keys), teams: old.teams, rules: maps.Clone(old.rules)}
	rules, err := readUserRules(tx, owner)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(next.rules, func(_ string, rules userRules) bool { return rules.user == owner })
	maps.Copy(next.rules, rules)
	changed, err := next.readKeys(tx, owner, old)
	maps.DeleteFunc(next.keys, func(_ aigateway.Digest, key *cachedKey) bool { return key.owner == owner })
	maps.Copy(next.keys, changed)
	return next, err
}

// readKeys reads the keys of a user, or of all users, with the teams of k.
func (k *snapshot) readKeys(db database.Statements, owner int64, old *snapshot) (map[aigateway.Digest]*cachedKey, error) {
	keys := make(map[aigateway.Digest]*cachedKey)
	err := db.Each(func(row database.Scanner) error {
		cached, replaced, err := scanCachedKey(row)
		key := &cached.key
		team := k.teams[key.Limit]
		key.Team, key.Disabled = team.Team, key.Disabled || team.damaged
		key.Subject = k.subjectOf(cached.owner)
		keys[key.Digest] = cached
		if time.Now().Before(replaced.Until) {
			keys[replaced.Digest] = cached.withSecret(replaced)
		}
		return err
	}, `SELECT `+keyColumns+`, u.name, u.disabled FROM gateway_keys k JOIN gateway_users u ON u.id = k.user_id
		WHERE $1 = 0 OR k.user_id = $1`, owner)
	inherit(keys, old)
	return keys, err
}

// subjectOf returns the Key.Subject of the keys of a user.
func (k *snapshot) subjectOf(owner int64) string {
	return k.database + " user " + strconv.FormatInt(owner, 10)
}

func scanCachedKey(row database.Scanner) (*cachedKey, aigateway.ReplacedSecret, error) {
	var stored aigateway.StoredKey
	var owner string
	var disabled bool
	err := scanKey(row, &stored, &owner, &disabled)
	models := make([]aigateway.Pattern, len(stored.Bounds.Models))
	for i, model := range stored.Bounds.Models {
		models[i] = aigateway.Pattern(model)
	}
	return &cachedKey{id: stored.ID, owner: stored.UserID, used: new(atomic.Bool), presented: new(atomic.Bool), key: aigateway.Key{
		ID: aigateway.StoredKeyID(stored.ID), Owner: owner,
		Digest: stored.Digest, Models: models, Networks: stored.Bounds.Networks, Limit: stored.Bounds.Limit,
		Expires: stored.Expires, Disabled: stored.Disabled || disabled,
		Own: aigateway.OwnLimit(aigateway.PerKey, stored.Bounds.Rules), Labels: aigateway.Labels{Tags: stored.Bounds.Tags},
	}}, stored.Replaced, err
}

// withSecret returns the key with the secret that it had before a rotation. It ends no later than
// the key.
func (k *cachedKey) withSecret(replaced aigateway.ReplacedSecret) *cachedKey {
	old := *k
	old.key.Digest, old.replaced, old.presented = replaced.Digest, true, new(atomic.Bool)
	if old.key.Expires.IsZero() || replaced.Until.Before(old.key.Expires) {
		old.key.Expires = replaced.Until
	}
	return &old
}
