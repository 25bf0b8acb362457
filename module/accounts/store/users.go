package store

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const userColumns = `u.id, u.name, u.display_name, u.role, u.disabled, u.password, u.rules, u.created, u.last_login`

// userFields returns the destinations of a row of userColumns. Rules that are invalid are read as
// none; see readUserRules for what they do to keys.
func userFields(u *aigateway.User) []any {
	return []any{&u.ID, &u.Name, &u.DisplayName, &u.Role, &u.Disabled, &u.Password, rulesColumn{&u.Rules, new(bool)}, timeColumn{&u.Created}, timeColumn{&u.LastLogin}}
}

// CreateUser implements aigateway.Users.
func (s *Store) CreateUser(ctx context.Context, user *aigateway.User) error {
	created := *user
	created.Created = now()
	err := s.tables.change(ctx, "creating user", func(tx database.Statements) (changed, error) {
		err := insertUser(tx, &created)
		return createdUser(&created), err
	})
	if err == nil {
		*user = created
	}
	return err
}

// createdUser returns what the creation of a user has changed.
func createdUser(user *aigateway.User) changed {
	return changed{user.ID, userRow("user.create", user, changesOf(nil, describeUser(user))...)}
}

// insertUser adds a user, and sets the ID.
func insertUser(tx database.Statements, user *aigateway.User) error {
	rules, err := encodeRules(user.Rules)
	if err != nil {
		return err
	}
	return tx.Row(`INSERT INTO gateway_users (name, display_name, role, disabled, password, rules, created, last_login)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		database.Text(user.Name), database.Text(user.DisplayName), int64(user.Role), user.Disabled, database.Text(user.Password),
		rules, millis(user.Created), millis(user.LastLogin)).Scan(&user.ID)
}

// User implements aigateway.Users.
func (s *Store) User(ctx context.Context, id int64) (user *aigateway.User, err error) {
	err = s.tables.db.Query(ctx, "reading user", func(db database.Statements) error {
		user, err = userByID(db, id)
		return err
	})
	return user, err
}

func userByID(db database.Statements, id int64) (*aigateway.User, error) {
	var user aigateway.User
	err := db.Row(`SELECT `+userColumns+` FROM gateway_users u WHERE u.id = $1`, id).Scan(userFields(&user)...)
	if err != nil {
		return nil, err
	}
	return &user, nil
}

// UserByName implements aigateway.Users.
func (s *Store) UserByName(ctx context.Context, name string) (*aigateway.User, error) {
	var user aigateway.User
	err := s.tables.db.Query(ctx, "reading user", func(db database.Statements) error {
		return db.Row(`SELECT `+userColumns+` FROM gateway_users u WHERE u.name = $1`, database.Text(name)).Scan(userFields(&user)...)
	})
	if err != nil {
		return nil, err
	}
	return &user, nil
}

// Users implements aigateway.Users.
func (s *Store) Users(ctx context.Context, page aigateway.Page) ([]aigateway.User, int, error) {
	return listed(ctx, s.tables, "listing users", page, func(row database.Scanner, u *aigateway.User) error { return row.Scan(userFields(u)...) },
		userColumns, ` FROM gateway_users u WHERE (u.name LIKE $1 ESCAPE '\' OR lower(u.display_name) LIKE $1 ESCAPE '\')`, userOrders.by(page, `u.id`))
}

var userOrders = orders{
	"name": `u.name`, "display_name": `u.display_name`, "role": `u.role`, "disabled": `u.disabled`, "last_login": `u.last_login`, "created": `u.created`,
}

// ChangeUser implements aigateway.Users.
func (s *Store) ChangeUser(ctx context.Context, id, keep int64, change func(*aigateway.User) error) (user *aigateway.User, err error) {
	err = s.tables.change(ctx, "changing user", func(tx database.Statements) (changed, error) {
		if user, err = userByID(tx, id); err != nil {
			return changed{}, err
		}
		old := *user
		if err := change(user); err != nil {
			return changed{}, database.Refuse(err)
		}
		return replaceUser(tx, &old, user, keep)
	})
	if err != nil {
		return nil, err
	}
	return user, nil
}

// replaceUser writes a user as it has been changed, except for what never changes.
func replaceUser(tx database.Statements, old, user *aigateway.User, keep int64) (changed, error) {
	user.ID, user.Name, user.Created = old.ID, old.Name, old.Created
	changes := changesOf(describeUser(old), describeUser(user))
	return changed{user.ID, userRow(updated("user", changes), user, changes...)}, updateUser(tx, old, user, keep)
}

// updateUser writes a changed user. If the user is disabled or has a new password, it
// deletes all sessions of the user except keep.
func updateUser(tx database.Statements, old, user *aigateway.User, keep int64) error {
	if isRoot(old) && !isRoot(user) {
		if err := checkOtherRoot(tx, user.ID); err != nil {
			return err
		}
	}
	if user.Disabled || user.Password != old.Password {
		if _, err := endSessions(tx, user.ID, keep); err != nil {
			return err
		}
	}
	rules, err := encodeRules(user.Rules)
	if err != nil {
		return err
	}
	return tx.Change(`UPDATE gateway_users SET display_name = $1, role = $2, disabled = $3, password = $4, rules = $5, last_login = $6 WHERE id = $7`,
		database.Text(user.DisplayName), int64(user.Role), user.Disabled, database.Text(user.Password), rules, millis(user.LastLogin), user.ID)
}

// DeleteUser implements aigateway.Users.
func (s *Store) DeleteUser(ctx context.Context, id int64, check func(*aigateway.User) error) error {
	return s.tables.change(ctx, "deleting user", func(tx database.Statements) (changed, error) {
		user, err := userByID(tx, id)
		if err != nil {
			return changed{}, err
		}
		if err := check(user); err != nil {
			return changed{}, database.Refuse(err)
		}
		if isRoot(user) {
			if err := checkOtherRoot(tx, id); err != nil {
				return changed{}, err
			}
		}
		lost, err := lostKeys(tx, ` FROM gateway_keys WHERE user_id = $1`, id)
		if err != nil {
			return changed{}, err
		}
		changes := append(changesOf(describeUser(user), nil), lost...)
		return changed{id, userRow("user.delete", user, changes...)}, tx.Change(`DELETE FROM gateway_users WHERE id = $1`, id)
	})
}

func isRoot(user *aigateway.User) bool { return user.Role == aigateway.RoleRoot && !user.Disabled }

// checkOtherRoot returns aigateway.ErrLastRoot if no other user is an enabled
// root user.
func checkOtherRoot(db database.Statements, id int64) error {
	others, err := db.Number(`SELECT count(*) FROM gateway_users WHERE role = $1 AND disabled = $2 AND id <> $3`,
		int64(aigateway.RoleRoot), false, id)
	if err == nil && others == 0 {
		err = aigateway.ErrLastRoot
	}
	return err
}
