package store

import (
	"crypto/subtle"
	"maps"
	"strconv"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// known is what the database was last seen to hold. It is replaced, never
// changed.
type known struct {
	state
	database string // its identity
	loaded   bool   // over the connection that is open
	keys     map[aigateway.Digest]*followed
}

// wasRead reports whether a database was read, over whatever connection: each
// has a stamp.
func (k *known) wasRead() bool { return k.stamp != "" }

// followed is a key in memory.
type followed struct {
	aigateway.Key
	id, owner int64
	used      *atomic.Bool // since uses were last written; outlives a replacement
}

// lookup returns the key with this digest, nil when there is none, and notes
// its use: in a flag that is written once a minute and read otherwise, so that
// requests on many processors do not fight for it.
func (k *known) lookup(digest aigateway.Digest) *aigateway.Key {
	found := k.keys[digest]
	// As for keys of the configuration: the second comparison takes the same
	// time whatever the first one showed.
	if found == nil || subtle.ConstantTimeCompare(found.Digest[:], digest[:]) != 1 {
		return nil
	}
	if !found.Disabled && !found.used.Load() {
		found.used.Store(true)
	}
	return &found.Key
}

// takeUses returns the keys that were used since it was last called.
func (k *known) takeUses() (used []*followed) {
	for _, key := range k.keys {
		if key.used.Swap(false) {
			used = append(used, key)
		}
	}
	return used
}

// inherit carries the uses that are not written yet over from what was known,
// to keys that nobody else knows yet.
func inherit(keys map[aigateway.Digest]*followed, from *known) {
	for digest, key := range keys {
		if before := from.keys[digest]; before != nil && before.id == key.id {
			key.used = before.used
		}
	}
}

// readKnown reads the state and then all keys. What is changed in between has a
// state of its own, and so will be read again.
func readKnown(in database.Statements, before *known) (*known, error) {
	now, err := readState(in)
	if err != nil {
		return nil, err
	}
	keys, err := readKeys(in, aigateway.AnyUser, before)
	return &known{database: before.database, loaded: true, state: now, keys: keys}, err
}

// readChanged is readKnown in a transaction that has changed no other keys than
// those of one user, in a database with this state. If that is what is known,
// the others need not be read.
func readChanged(tx database.Statements, owner int64, from state, before *known) (*known, error) {
	if !before.loaded || before.state != from {
		return readKnown(tx, before)
	}
	now, err := readState(tx)
	if err != nil {
		return nil, err
	}
	changed, err := readKeys(tx, owner, before)
	keys := maps.Clone(before.keys)
	maps.DeleteFunc(keys, func(_ aigateway.Digest, key *followed) bool { return key.owner == owner })
	maps.Copy(keys, changed)
	return &known{database: before.database, loaded: true, state: now, keys: keys}, err
}

// readKeys reads the keys of a user, or of all.
func readKeys(in database.Statements, owner int64, before *known) (map[aigateway.Digest]*followed, error) {
	keys := make(map[aigateway.Digest]*followed)
	err := in.Each(func(row database.Scanner) error {
		key, err := scanFollowed(row)
		key.Subject = before.subjectOf(key.owner)
		keys[key.Digest] = key
		return err
	}, `SELECT `+keyColumns+`, u.name, u.disabled FROM gateway_keys k JOIN gateway_users u ON u.id = k.user_id
		WHERE $1 = 0 OR k.user_id = $1`, owner)
	inherit(keys, before)
	return keys, err
}

// subjectOf is what the keys of a user have in common: nobody gets more by
// making more of them.
func (k *known) subjectOf(owner int64) string {
	return k.database + " user " + strconv.FormatInt(owner, 10)
}

func scanFollowed(row database.Scanner) (*followed, error) {
	var stored aigateway.StoredKey
	var owner string
	var disabled bool
	err := scanKey(row, &stored, &owner, &disabled)
	models := make([]aigateway.Pattern, len(stored.Models))
	for i, model := range stored.Models {
		models[i] = aigateway.Pattern(model)
	}
	return &followed{id: stored.ID, owner: stored.UserID, used: new(atomic.Bool), Key: aigateway.Key{
		ID: aigateway.StoredKeyID(stored.ID), Owner: owner,
		Digest: stored.Digest, Models: models, Networks: stored.Networks, Limit: stored.Limit,
		Expires: stored.Expires, Disabled: stored.Disabled || disabled,
	}}, err
}
