package store

import (
	"context"
	"errors"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// devices are the devices of a store.
type devices struct{ tables *tables }

// Devices implements aigateway.DeviceStore.
func (s *Store) Devices() aigateway.Devices { return devices{s.tables} }

const deviceColumns = `d.digest, d.code, d.agent, d.address, d.created, d.expires, d.denied, COALESCE(d.key_id, 0), d.refresh, d.replaced, d.salt, d.rotated`

// deviceFields returns the destinations of a row of deviceColumns.
func deviceFields(d *aigateway.Device) []any {
	return []any{
		digestColumn{d.Digest[:]}, digestColumn{d.Code[:]}, &d.Agent, &d.Address, timeColumn{&d.Created}, timeColumn{&d.Expires}, &d.Denied, &d.Key,
		digestColumn{d.Tokens.Refresh[:]}, digestColumn{d.Tokens.Replaced[:]}, digestColumn{d.Tokens.Salt[:]}, timeColumn{&d.Tokens.Rotated},
	}
}

// Create implements aigateway.Devices.
func (s devices) Create(ctx context.Context, device *aigateway.Device, limit int) error {
	created := *device
	created.Created = now()
	err := s.tables.recorder.write(ctx, "creating device", func(tx database.Statements) (changed, error) {
		if _, err := tx.Exec(`DELETE FROM gateway_devices WHERE expires <= $1 AND key_id IS NULL`, millis(created.Created)); err != nil {
			return changed{}, err
		}
		waiting, err := tx.Number(`SELECT count(*) FROM gateway_devices WHERE code IS NOT NULL`)
		if err == nil && waiting >= int64(limit) {
			err = aigateway.ErrTooMany
		}
		if err != nil {
			return changed{}, err
		}
		return changed{}, tx.Change(`INSERT INTO gateway_devices (digest, code, agent, address, created, expires, polled, denied, rotated)
			VALUES ($1, $2, $3, $4, $5, $6, 0, $7, 0)`,
			device.Digest[:], device.Code[:], database.Text(device.Agent), database.Text(device.Address), millis(created.Created), millis(device.Expires), false)
	})
	if err == nil {
		*device = created
	}
	return err
}

// Waiting implements aigateway.Devices.
func (s devices) Waiting(ctx context.Context, code aigateway.Digest) (device *aigateway.Device, err error) {
	err = s.tables.db.Query(ctx, "reading device", func(db database.Statements) error {
		device, err = waitingDevice(db, code)
		return err
	})
	return device, err
}

func waitingDevice(db database.Statements, code aigateway.Digest) (*aigateway.Device, error) {
	var device aigateway.Device
	err := db.Row(`SELECT `+deviceColumns+` FROM gateway_devices d WHERE d.code = $1 AND d.expires > $2`, code[:], millis(time.Now())).Scan(deviceFields(&device)...)
	if err != nil {
		return nil, err
	}
	return &device, nil
}

// deviceChanges are the fields of the audit log that identify a device.
func deviceChanges(d *aigateway.Device) []aigateway.AuditChange {
	return []aigateway.AuditChange{{Field: "agent", After: d.Agent}, {Field: "address", After: d.Address}}
}

// Confirm implements aigateway.Devices.
func (s devices) Confirm(ctx context.Context, code aigateway.Digest, expires time.Time, key *aigateway.StoredKey, limit int) error {
	created := *key
	created.Created = now()
	err := s.tables.change(ctx, "confirming device", func(tx database.Statements) (changed, error) {
		device, err := waitingDevice(tx, code)
		if err != nil {
			return changed{}, err
		}
		const ended = ` FROM gateway_keys WHERE user_id = $1 AND id IN (SELECT key_id FROM gateway_devices WHERE expires <= $2 AND key_id IS NOT NULL)`
		lost, err := lostKeys(tx, ended, key.UserID, millis(created.Created))
		if err == nil && lost != nil {
			_, err = tx.Exec(`DELETE`+ended, key.UserID, millis(created.Created))
		}
		if err != nil {
			return changed{}, err
		}
		done, err := insertKey(tx, &created, limit)
		if err != nil {
			return changed{}, err
		}
		done.row.Changes = append(append(done.row.Changes, deviceChanges(device)...), lost...)
		return done, tx.Change(`UPDATE gateway_devices SET code = NULL, key_id = $1, expires = $2 WHERE digest = $3`, created.ID, millis(expires), device.Digest[:])
	})
	if err == nil {
		*key = created
	}
	return err
}

// Deny implements aigateway.Devices.
func (s devices) Deny(ctx context.Context, code aigateway.Digest) error {
	return s.tables.recorder.write(ctx, "denying device", func(tx database.Statements) (changed, error) {
		device, err := waitingDevice(tx, code)
		if err != nil {
			return changed{}, err
		}
		actor, _ := aigateway.ActorOf(ctx)
		row := aigateway.AuditEntry{Action: "device.deny", Object: actor.Name, Changes: deviceChanges(device)}
		return changed{row: row}, tx.Change(`UPDATE gateway_devices SET code = NULL, denied = $1 WHERE digest = $2`, true, device.Digest[:])
	})
}

// Find implements aigateway.Devices.
func (s devices) Find(ctx context.Context, digest aigateway.Digest) (device *aigateway.Device, user *aigateway.User, err error) {
	err = s.tables.db.Query(ctx, "finding device", func(db database.Statements) error {
		device, user, err = foundDevice(db, digest)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return device, user, nil
}

// Poll implements aigateway.Devices.
func (s devices) Poll(ctx context.Context, digest aigateway.Digest, moment time.Time, pause time.Duration) (*aigateway.Device, *aigateway.User, error) {
	var device *aigateway.Device
	var user *aigateway.User
	err := s.tables.recorder.write(ctx, "polling device", func(tx database.Statements) (changed, error) {
		var err error
		if device, user, err = foundDevice(tx, digest); err != nil {
			return changed{}, err
		}
		n, err := tx.Exec(`UPDATE gateway_devices SET polled = $1 WHERE digest = $2 AND polled <= $3`, millis(moment), digest[:], millis(moment.Add(-pause)))
		if err == nil && n == 0 {
			err = database.Refuse(aigateway.ErrBusy)
		}
		return changed{}, err
	})
	if err != nil {
		return nil, nil, err
	}
	return device, user, nil
}

// foundDevice returns a device and the user of its key, nil without one.
func foundDevice(db database.Statements, digest aigateway.Digest) (*aigateway.Device, *aigateway.User, error) {
	var device aigateway.Device
	err := db.Row(`SELECT `+deviceColumns+` FROM gateway_devices d WHERE d.digest = $1`, digest[:]).Scan(deviceFields(&device)...)
	if err != nil || device.Key == 0 {
		return &device, nil, err
	}
	var user aigateway.User
	err = db.Row(`SELECT `+userColumns+` FROM gateway_keys k JOIN gateway_users u ON u.id = k.user_id WHERE k.id = $1`, device.Key).Scan(userFields(&user)...)
	return &device, &user, err
}

// TokenUsed implements aigateway.Devices.
func (s devices) TokenUsed(digest aigateway.Digest) bool {
	key := s.tables.cache.newest.Load().keys[digest]
	return key != nil && key.presented.Load()
}

// Rotate implements aigateway.Devices.
func (s devices) Rotate(ctx context.Context, digest aigateway.Digest, rotate func(*aigateway.Device, *aigateway.StoredKey, *aigateway.User) error) error {
	return s.tables.change(ctx, "rotating device", func(tx database.Statements) (changed, error) {
		device, user, err := foundDevice(tx, digest)
		if err != nil {
			return changed{}, err
		}
		if user == nil {
			return changed{}, database.Refuse(aigateway.ErrNotFound)
		}
		key, err := keyByID(tx, user.ID, device.Key)
		if err != nil {
			return changed{}, err
		}
		old := *key
		if err := rotate(device, key, user); err != nil {
			return changed{}, database.Refuse(err)
		}
		tokens := &device.Tokens
		err = tx.Change(`UPDATE gateway_devices SET refresh = $1, replaced = $2, salt = $3, rotated = $4 WHERE digest = $5`,
			tokens.Refresh[:], tokens.Replaced[:], tokens.Salt[:], millis(tokens.Rotated), digest[:])
		changes := changesOf(describeKey(nil, &old), describeKey(nil, key))
		// An action of its own: programs do it each hour, and nobody has changed the key.
		return changed{user.ID, keyRow("device.token", key, changes)}, errors.Join(err, updateKey(tx, key))
	})
}
