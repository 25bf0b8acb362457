package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// SignIn implements aigateway.IdentityStore.
func (s *Store) SignIn(ctx context.Context, identity aigateway.Identity, create func() (*aigateway.User, error), change func(*aigateway.User) error) (user *aigateway.User, err error) {
	identity.Used = now()
	err = s.tables.change(ctx, "signing in", func(tx database.Statements) (changed, error) {
		isNew := false
		user, err = identified(tx, identity)
		if errors.Is(err, sql.ErrNoRows) {
			isNew = true
			user, err = createIdentified(tx, identity, create)
		}
		if err != nil {
			return changed{}, err
		}
		old := *user
		if err := change(user); err != nil {
			return changed{}, database.Refuse(err)
		}
		done, err := replaceUser(tx, &old, user, 0)
		if err == nil {
			err = recordSignIn(tx, identity)
		}
		if isNew {
			done = createdUser(user)
		}
		if err != nil || identity.MaxTeams == 0 {
			return done, err
		}
		moved, err := followGroups(tx, user.ID, identity)
		if len(moved) > 0 {
			done.row = userRow(cmp.Or(done.row.Action, "user.update"), user, append(done.row.Changes, moved...)...)
		}
		return done, err
	})
	if err != nil {
		return nil, err
	}
	return user, nil
}

// followGroups makes a user a member of the teams that have the names of groups, and ends the
// memberships that the issuer gave for other names. It returns the fields that have changed.
func followGroups(tx database.Statements, user int64, identity aigateway.Identity) ([]aigateway.AuditChange, error) {
	issuer := database.Text(identity.Issuer)
	given, err := teamNames(tx, `SELECT team FROM gateway_members WHERE user_id = $1 AND issuer = $2 ORDER BY team`, user, issuer)
	if err != nil {
		return nil, err
	}
	var moved []aigateway.AuditChange
	for _, team := range given {
		if slices.Contains(identity.Groups, team) {
			continue
		}
		if _, err := tx.Exec(`DELETE FROM gateway_members WHERE team = $1 AND user_id = $2`, team, user); err != nil {
			return nil, err
		}
		lost, err := removeKeys(tx, team, user, true)
		if err != nil {
			return nil, err
		}
		moved = append(append(moved, aigateway.AuditChange{Field: "team " + team, Before: memberWord(false)}), lost...)
	}
	joined, err := joinTeams(tx, user, identity)
	return append(moved, joined...), err
}

// joinTeams adds a user to the teams that have the names of groups, until the user has MaxTeams.
func joinTeams(tx database.Statements, user int64, identity aigateway.Identity) (joined []aigateway.AuditChange, err error) {
	count, err := tx.Number(`SELECT count(*) FROM gateway_members WHERE user_id = $1`, user)
	if err != nil || len(identity.Groups) == 0 {
		return nil, err
	}
	others, err := teamNames(tx, `SELECT t.name FROM gateway_teams t
		WHERE NOT EXISTS (SELECT 1 FROM gateway_members m WHERE m.team = t.name AND m.user_id = $1) ORDER BY t.name`, user)
	for _, team := range others {
		if count >= int64(identity.MaxTeams) {
			break
		}
		if !slices.Contains(identity.Groups, team) {
			continue
		}
		_, err = tx.Exec(`INSERT INTO gateway_members (team, user_id, admin, issuer) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			team, user, false, database.Text(identity.Issuer))
		if err != nil {
			return nil, err
		}
		count++
		joined = append(joined, aigateway.AuditChange{Field: "team " + team, After: memberWord(false)})
	}
	return joined, err
}

func teamNames(db database.Statements, query string, args ...any) (names []string, err error) {
	err = db.Each(func(row database.Scanner) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, query, args...)
	return names, err
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
func identified(db database.Statements, identity aigateway.Identity) (*aigateway.User, error) {
	var user aigateway.User
	err := db.Row(`SELECT `+userColumns+` FROM gateway_identities i JOIN gateway_users u ON u.id = i.user_id
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
	return s.tables.recorder.write(ctx, "linking identity", func(tx database.Statements) (changed, error) {
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
	err = s.tables.db.Query(ctx, "listing identities", func(db database.Statements) error {
		return db.Each(func(row database.Scanner) error {
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
	return s.tables.change(ctx, "deleting identities", func(tx database.Statements) (changed, error) {
		user, err := userByID(tx, id)
		if err != nil {
			return changed{}, err
		}
		var lost []aigateway.AuditChange
		var issuers []string
		err = tx.Each(func(row database.Scanner) error {
			var issuer, subject string
			err := row.Scan(&issuer, &subject)
			issuers = append(issuers, issuer)
			lost = append(lost, aigateway.AuditChange{Field: "identity", Before: issuer + " " + subject})
			return err
		}, `SELECT issuer, subject FROM gateway_identities WHERE user_id = $1 ORDER BY created, issuer, subject`, id)
		for _, issuer := range issuers {
			if err == nil {
				var left []aigateway.AuditChange
				left, err = followGroups(tx, id, aigateway.Identity{Issuer: issuer})
				lost = append(lost, left...)
			}
		}
		if err == nil {
			_, err = tx.Exec(`DELETE FROM gateway_identities WHERE user_id = $1`, id)
		}
		if err == nil {
			_, err = endSessions(tx, id, 0)
		}
		return changed{id, userRow("user.unlink", user, lost...)}, err
	})
}

// Interface guard
var _ aigateway.IdentityStore = (*Store)(nil)
