package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/database"
)

// SignIn implements aigateway.IdentityStore.
func (s *Store) SignIn(ctx context.Context, identity aigateway.Identity, create func() (*aigateway.User, error), change func(*aigateway.User) error) (user *aigateway.User, err error) {
	identity.Used = now()
	err = s.change(ctx, "signing in", func(tx database.Statements) (changed, error) {
		isNew := false
		user, err = identified(tx, identity)
		if errors.Is(err, sql.ErrNoRows) {
			isNew = true
			user, err = createIdentified(tx, identity, create)
		}
		if err != nil {
			return changed{}, err
		}
		before := *user
		if err := change(user); err != nil {
			return changed{}, database.Refuse(err)
		}
		done, err := replaceUser(tx, &before, user, 0)
		if err == nil {
			err = recordSignIn(tx, identity)
		}
		if isNew {
			done = createdUser(user)
		}
		return done, err
	})
	if err != nil {
		return nil, err
	}
	return user, nil
}

// recordSignIn writes the groups and the time of a sign-in.
func recordSignIn(tx database.Statements, identity aigateway.Identity) error {
	groups, err := encodeList(identity.Groups)
	if err != nil {
		return err
	}
	return tx.Change(`UPDATE gateway_identities SET groups = $1, used = $2 WHERE issuer = $3 AND subject = $4`,
		database.Text(groups), millis(identity.Used), database.Text(identity.Issuer), database.Text(identity.Subject))
}

// identified returns the user with an identity.
func identified(in database.Statements, identity aigateway.Identity) (*aigateway.User, error) {
	var user aigateway.User
	err := in.Row(`SELECT `+userColumns+` FROM gateway_identities i JOIN gateway_users u ON u.id = i.user_id
		WHERE i.issuer = $1 AND i.subject = $2`, database.Text(identity.Issuer), database.Text(identity.Subject)).Scan(userFields(&user)...)
	return &user, err
}

// createIdentified adds the user that create returns, with an identity.
func createIdentified(tx database.Statements, identity aigateway.Identity, create func() (*aigateway.User, error)) (*aigateway.User, error) {
	user, err := create()
	if err != nil {
		return nil, database.Refuse(err)
	}
	user.Created = identity.Used
	if err := insertUser(tx, user); err != nil {
		return nil, err
	}
	identity.UserID, identity.Created = user.ID, identity.Used
	return user, insertIdentity(tx, identity)
}

func insertIdentity(tx database.Statements, identity aigateway.Identity) error {
	_, err := tx.Exec(`INSERT INTO gateway_identities (issuer, subject, user_id, groups, created, used) VALUES ($1, $2, $3, '[]', $4, 0)`,
		database.Text(identity.Issuer), database.Text(identity.Subject), identity.UserID, millis(identity.Created))
	return err
}

// LinkIdentity implements aigateway.IdentityStore.
func (s *Store) LinkIdentity(ctx context.Context, identity aigateway.Identity, limit int) error {
	identity.Created = now()
	return s.write(ctx, "linking identity", func(tx database.Statements) (changed, error) {
		user, err := userByID(tx, identity.UserID)
		if err != nil {
			return changed{}, err
		}
		n, err := tx.Number(`SELECT count(*) FROM gateway_identities WHERE user_id = $1`, user.ID)
		if err == nil && n >= int64(limit) {
			err = aigateway.ErrTooMany
		}
		if err == nil {
			err = insertIdentity(tx, identity)
		}
		return changed{row: userRow("user.link", user, aigateway.AuditChange{Field: "identity", After: identity.Issuer + " " + identity.Subject})}, err
	})
}

// IdentitiesOf implements aigateway.IdentityStore.
func (s *Store) IdentitiesOf(ctx context.Context, user int64) (identities []aigateway.Identity, err error) {
	err = s.db.Query(ctx, "listing identities", func(in database.Statements) error {
		return in.Each(func(row database.Scanner) error {
			identity := aigateway.Identity{UserID: user}
			var damaged bool // groups that cannot be read count as none
			err := row.Scan(&identity.Issuer, &identity.Subject, listColumn[string]{&identity.Groups, &damaged},
				timeColumn{&identity.Created}, timeColumn{&identity.Used})
			identities = append(identities, identity)
			return err
		}, `SELECT issuer, subject, groups, created, used FROM gateway_identities WHERE user_id = $1 ORDER BY created, issuer, subject`, user)
	})
	return identities, err
}

// DeleteIdentities implements aigateway.IdentityStore.
func (s *Store) DeleteIdentities(ctx context.Context, id int64) error {
	return s.write(ctx, "deleting identities", func(tx database.Statements) (changed, error) {
		user, err := userByID(tx, id)
		if err != nil {
			return changed{}, err
		}
		var lost []aigateway.AuditChange
		err = tx.Each(func(row database.Scanner) error {
			var issuer, subject string
			err := row.Scan(&issuer, &subject)
			lost = append(lost, aigateway.AuditChange{Field: "identity", Before: issuer + " " + subject})
			return err
		}, `SELECT issuer, subject FROM gateway_identities WHERE user_id = $1 ORDER BY created, issuer, subject`, id)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM gateway_identities WHERE user_id = $1`, id)
		}
		if err == nil {
			_, err = endSessions(tx, id, 0)
		}
		return changed{row: userRow("user.unlink", user, lost...)}, err
	})
}

// Interface guard
var _ aigateway.IdentityStore = (*Store)(nil)
