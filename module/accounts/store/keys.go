package store

import (
	"context"
	"errors"
	"net/netip"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const keyColumns = `k.id, k.user_id, k.name, k.hint, k.digest, k.replaced, k.replaced_until,
	k.models, k.networks, k.limit_name, k.rules, k.tags, k.disabled, k.created, k.expires, k.used`

// signInEnds selects the end of the sign-in of the program that has a key k, null if it is none of a program.
const signInEnds = `(SELECT d.expires FROM gateway_devices d WHERE d.key_id = k.id)`

// shownColumns are keyColumns with the end of the sign-in of a program, as scanShown reads them.
const shownColumns = keyColumns + `, COALESCE(` + signInEnds + `, 0)`

// notEnded selects the keys k that lists show and bounds count: those of sign-ins that are over at the time $2
// can never be used again. They stay, so that usage has their names, until the person signs in a program again.
const notEnded = ` AND NOT EXISTS (SELECT 1 FROM gateway_devices d WHERE d.key_id = k.id AND d.expires <= $2)`

func scanShown(row database.Scanner, k *aigateway.StoredKey) error {
	return scanKey(row, k, timeColumn{&k.Renewable})
}

// scanKey reads a row of keyColumns, and then more columns. It disables a key whose
// restrictions are invalid, because without them the key would allow too much. Only
// a manual change of the database can make them invalid.
func scanKey(row database.Scanner, k *aigateway.StoredKey, more ...any) error {
	var damaged bool
	err := row.Scan(append([]any{&k.ID, &k.UserID, &k.Name, &k.Hint,
		digestColumn{k.Digest[:]}, digestColumn{k.Replaced.Digest[:]}, timeColumn{&k.Replaced.Until},
		listColumn[string]{&k.Bounds.Models, &damaged}, listColumn[netip.Prefix]{&k.Bounds.Networks, &damaged}, &k.Bounds.Limit,
		rulesColumn{&k.Bounds.Rules, &damaged}, listColumn[aigateway.Tag]{&k.Bounds.Tags, &damaged},
		&k.Disabled, timeColumn{&k.Created}, timeColumn{&k.Expires}, timeColumn{&k.Used}}, more...)...)
	k.Disabled = k.Disabled || damaged
	return err
}

// CreateKey implements aigateway.Keys.
func (s *Store) CreateKey(ctx context.Context, key *aigateway.StoredKey, limit int) error {
	created := *key
	created.Created = now()
	err := s.tables.change(ctx, "creating key", func(tx database.Statements) (changed, error) { return insertKey(tx, &created, limit) })
	if err == nil {
		*key = created
	}
	return err
}

// insertKey adds a key, and sets its ID.
func insertKey(tx database.Statements, key *aigateway.StoredKey, limit int) (changed, error) {
	columns, err := columnsOf(&key.Bounds)
	if err != nil {
		return changed{}, database.Refuse(err)
	}
	owner, err := checkRoom(tx, key.UserID, limit)
	if err == nil {
		err = checkMember(tx, key.UserID, key.Bounds.Limit)
	}
	if err == nil {
		key.ID, err = nextKeyID(tx)
	}
	if err != nil {
		return changed{}, err
	}
	err = tx.Change(`INSERT INTO gateway_keys (id, user_id, name, folded, hint, digest, models, networks, rules, tags, limit_name, disabled, created, expires, used)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		key.ID, key.UserID, database.Text(key.Name), fold(key.Name), database.Text(key.Hint), key.Digest[:],
		columns.models, columns.networks, columns.rules, columns.tags,
		database.Text(key.Bounds.Limit), key.Disabled, millis(key.Created), millis(key.Expires), millis(key.Used))
	return changed{key.UserID, keyRow("key.create", key, changesOf(nil, describeKey(owner, key)))}, err
}

// checkRoom returns a user, and aigateway.ErrTooMany if the user has limit keys or more.
func checkRoom(db database.Statements, user int64, limit int) (*aigateway.User, error) {
	owner, err := userByID(db, user)
	if err != nil {
		return nil, err
	}
	n, err := db.Number(`SELECT count(*) FROM gateway_keys k WHERE k.user_id = $1`+notEnded, user, millis(now()))
	if err == nil && n >= int64(limit) {
		err = aigateway.ErrTooMany
	}
	return owner, err
}

// boundColumns are the columns of a key that contain JSON.
type boundColumns struct{ models, networks, rules, tags string }

func columnsOf(bounds *aigateway.KeyBounds) (columns boundColumns, err error) {
	var failed [4]error
	columns.models, failed[0] = encodeList(bounds.Models)
	columns.networks, failed[1] = encodeList(bounds.Networks)
	columns.rules, failed[2] = encodeRules(bounds.Rules)
	columns.tags, failed[3] = encodeList(bounds.Tags)
	return columns, errors.Join(failed[:]...)
}

// Key implements aigateway.Keys.
func (s *Store) Key(ctx context.Context, user, id int64) (key *aigateway.StoredKey, err error) {
	err = s.tables.db.Query(ctx, "reading key", func(db database.Statements) error {
		key, err = keyByID(db, user, id)
		return err
	})
	return key, err
}

func keyByID(db database.Statements, user, id int64) (*aigateway.StoredKey, error) {
	var key aigateway.StoredKey
	err := scanShown(db.Row(`SELECT `+shownColumns+` FROM gateway_keys k WHERE k.id = $1 AND ($2 = 0 OR k.user_id = $2)`, id, user), &key)
	if err != nil {
		return nil, err
	}
	return &key, nil
}

// Keys implements aigateway.Keys.
func (s *Store) Keys(ctx context.Context, user int64, page aigateway.Page) ([]aigateway.StoredKey, int, error) {
	return listed(ctx, s.tables, "listing keys", page, scanShown, shownColumns,
		` FROM gateway_keys k WHERE k.folded LIKE $1 ESCAPE '\'`+notEnded+` AND ($3 = 0 OR k.user_id = $3)`, keyOrders.by(page, `k.id DESC`),
		millis(now()), user)
}

var keyOrders = orders{
	"name": `k.folded`, "user": `(SELECT u.name FROM gateway_users u WHERE u.id = k.user_id)`, "used": `k.used`, "created": `k.created`,
	"expires": `COALESCE(` + signInEnds + `, k.expires)`,
}

// ChangeKey implements aigateway.Keys.
func (s *Store) ChangeKey(ctx context.Context, user, id int64, change func(*aigateway.StoredKey) error) (key *aigateway.StoredKey, err error) {
	err = s.tables.change(ctx, "changing key", func(tx database.Statements) (changed, error) {
		if key, err = keyByID(tx, user, id); err != nil {
			return changed{}, err
		}
		old := *key
		if err := change(key); err != nil {
			return changed{}, database.Refuse(err)
		}
		key.ID, key.UserID, key.Created, key.Used = old.ID, old.UserID, old.Created, old.Used
		if key.Bounds.Limit != old.Bounds.Limit {
			if err := checkMember(tx, key.UserID, key.Bounds.Limit); err != nil {
				return changed{}, err
			}
		}
		changes := changesOf(describeKey(nil, &old), describeKey(nil, key))
		return changed{key.UserID, keyRow(updated("key", changes), key, changes)}, updateKey(tx, key)
	})
	if err != nil {
		return nil, err
	}
	return key, nil
}

func updateKey(tx database.Statements, key *aigateway.StoredKey) error {
	columns, err := columnsOf(&key.Bounds)
	if err != nil {
		return database.Refuse(err)
	}
	return tx.Change(`UPDATE gateway_keys SET name = $1, folded = $2, hint = $3, digest = $4, replaced = $5, replaced_until = $6,
		models = $7, networks = $8, rules = $9, tags = $10, limit_name = $11, disabled = $12, expires = $13 WHERE id = $14`,
		database.Text(key.Name), fold(key.Name), database.Text(key.Hint), key.Digest[:], key.Replaced.Digest[:], millis(key.Replaced.Until),
		columns.models, columns.networks, columns.rules, columns.tags, database.Text(key.Bounds.Limit), key.Disabled, millis(key.Expires), key.ID)
}

// DeleteKey implements aigateway.Keys.
func (s *Store) DeleteKey(ctx context.Context, user, id int64) error {
	return s.tables.change(ctx, "deleting key", func(tx database.Statements) (changed, error) {
		key, err := keyByID(tx, user, id)
		if err != nil {
			return changed{}, err
		}
		owner, err := userByID(tx, key.UserID)
		if err != nil {
			return changed{}, err
		}
		return changed{owner.ID, keyRow("key.delete", key, changesOf(describeKey(owner, key), nil))}, tx.Change(`DELETE FROM gateway_keys WHERE id = $1`, id)
	})
}
