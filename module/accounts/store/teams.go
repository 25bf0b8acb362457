package store

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// teams implements aigateway.Teams.
type teams struct{ tables *tables }

// Teams implements aigateway.Store.
func (s *Store) Teams() aigateway.Teams { return teams{s.tables} }

const teamColumns = `t.name, t.models, t.rules, t.created`

// scanTeam reads a row of teamColumns, and then more columns. damaged is true if its models
// or rules are invalid, without which its keys would be allowed too much. Only a manual
// change of the database can make them invalid.
func scanTeam(row database.Scanner, t *aigateway.Team, more ...any) (damaged bool, err error) {
	err = row.Scan(append([]any{&t.Name, listColumn[aigateway.Pattern]{&t.Models, &damaged}, rulesColumn{&t.Rules, &damaged}, timeColumn{&t.Created}}, more...)...)
	return damaged, err
}

// teamTexts returns the columns of the models and rules of a team.
func teamTexts(t *aigateway.Team) (models, rules string, err error) {
	if models, err = encodeList(t.Models); err != nil {
		return "", "", err
	}
	rules, err = encodeRules(t.Rules)
	return models, rules, err
}

// Create implements aigateway.Teams.
func (s teams) Create(ctx context.Context, team *aigateway.Team) error {
	models, rules, err := teamTexts(team)
	if err != nil {
		return err
	}
	created := now()
	err = s.tables.change(ctx, "creating team", func(tx database.Statements) (changed, error) {
		name := database.Text(team.Name)
		err := tx.Change(`INSERT INTO gateway_teams (name, folded, models, rules, created) VALUES ($1, $2, $3, $4, $5)`,
			name, fold(team.Name), models, rules, millis(created))
		if err == nil {
			_, err = tx.Exec(`INSERT INTO gateway_members (team, user_id, admin)
				SELECT DISTINCT limit_name, user_id, 1 = 0 FROM gateway_keys WHERE limit_name = $1`, name)
		}
		return changed{row: teamRow("team.create", team.Name, changesOf(nil, describeTeam(team))...)}, err
	})
	if err == nil {
		team.Created = created
	}
	return err
}

// Team implements aigateway.Teams.
func (s teams) Team(ctx context.Context, name string) (team *aigateway.Team, err error) {
	err = s.tables.db.Query(ctx, "reading team", func(db database.Statements) error {
		team, err = teamByName(db, name)
		return err
	})
	return team, err
}

func teamByName(db database.Statements, name string) (*aigateway.Team, error) {
	var team aigateway.Team
	_, err := scanTeam(db.Row(`SELECT `+teamColumns+` FROM gateway_teams t WHERE t.name = $1`, database.Text(name)), &team)
	if err != nil {
		return nil, err
	}
	return &team, nil
}

// List implements aigateway.Teams.
func (s teams) List(ctx context.Context, page aigateway.Page) ([]aigateway.Team, int, error) {
	return listed(ctx, s.tables, "listing teams", page, func(row database.Scanner, t *aigateway.Team) error {
		_, err := scanTeam(row, t)
		return err
	}, teamColumns, ` FROM gateway_teams t WHERE t.folded LIKE $1 ESCAPE '\'`, ` ORDER BY t.name`)
}

// Change implements aigateway.Teams.
func (s teams) Change(ctx context.Context, name string, change func(*aigateway.Team) error) (team *aigateway.Team, err error) {
	err = s.tables.change(ctx, "changing team", func(tx database.Statements) (changed, error) {
		if team, err = teamByName(tx, name); err != nil {
			return changed{}, err
		}
		old := *team
		if err := change(team); err != nil {
			return changed{}, database.Refuse(err)
		}
		team.Name, team.Created = old.Name, old.Created
		models, rules, err := teamTexts(team)
		if err != nil {
			return changed{}, database.Refuse(err)
		}
		changes := changesOf(describeTeam(&old), describeTeam(team))
		return changed{row: teamRow(updated("team", changes), name, changes...)}, tx.Change(`UPDATE gateway_teams SET models = $1, rules = $2 WHERE name = $3`, models, rules, database.Text(name))
	})
	if err != nil {
		return nil, err
	}
	return team, nil
}

// Delete implements aigateway.Teams.
func (s teams) Delete(ctx context.Context, name string, withKeys bool) error {
	return s.tables.change(ctx, "deleting team", func(tx database.Statements) (changed, error) {
		team, err := teamByName(tx, name)
		if err != nil {
			return changed{}, err
		}
		lost, err := removeKeys(tx, name, aigateway.AnyUser, withKeys)
		if err != nil {
			return changed{}, err
		}
		changes := append(changesOf(describeTeam(team), nil), lost...)
		return changed{row: teamRow("team.delete", name, changes...)}, tx.Change(`DELETE FROM gateway_teams WHERE name = $1`, database.Text(name))
	})
}

// removeKeys deletes the keys of a team, or only those of one user, if withKeys is true. Else
// it returns aigateway.ErrHasKeys if there are any. It returns the field with the keys.
func removeKeys(tx database.Statements, team string, user int64, withKeys bool) ([]aigateway.AuditChange, error) {
	const which = ` FROM gateway_keys WHERE limit_name = $1 AND ($2 = 0 OR user_id = $2)`
	team = database.Text(team)
	lost, err := lostKeys(tx, which, team, user)
	switch {
	case err != nil:
		return nil, err
	case lost != nil && !withKeys:
		return nil, aigateway.ErrHasKeys
	}
	_, err = tx.Exec(`DELETE`+which, team, user)
	return lost, err
}

// Of implements aigateway.Teams.
func (s teams) Of(ctx context.Context, user int64) (memberships []aigateway.Membership, err error) {
	err = s.tables.db.Query(ctx, "listing teams of user", func(db database.Statements) error {
		return db.Each(func(row database.Scanner) error {
			var m aigateway.Membership
			_, err := scanTeam(row, &m.Team, &m.Admin)
			memberships = append(memberships, m)
			return err
		}, `SELECT `+teamColumns+`, m.admin FROM gateway_teams t JOIN gateway_members m ON m.team = t.name WHERE m.user_id = $1 ORDER BY t.name`, user)
	})
	return memberships, err
}

// Members implements aigateway.Teams.
func (s teams) Members(ctx context.Context, team string, page aigateway.Page) ([]aigateway.Member, int, error) {
	if _, err := s.Team(ctx, team); err != nil {
		return nil, 0, err
	}
	return listed(ctx, s.tables, "listing members", page, func(row database.Scanner, m *aigateway.Member) error {
		return row.Scan(&m.UserID, &m.User, &m.Role, &m.Admin)
	}, `u.id, u.name, u.role, m.admin`, ` FROM gateway_members m JOIN gateway_users u ON u.id = m.user_id
		WHERE (u.name LIKE $1 ESCAPE '\' OR lower(u.display_name) LIKE $1 ESCAPE '\') AND m.team = $2`,
		` ORDER BY u.id`, database.Text(team))
}

// SetMember implements aigateway.Teams.
func (s teams) SetMember(ctx context.Context, team string, user int64, admin bool, limit int) error {
	return s.tables.recorder.write(ctx, "setting member", func(tx database.Statements) (changed, error) {
		old, err := memberOf(tx, team, user)
		if err != nil {
			return changed{}, err
		}
		others, err := tx.Number(`SELECT count(*) FROM gateway_members WHERE user_id = $1 AND team <> $2`, user, database.Text(team))
		if err == nil && others >= int64(limit) {
			err = aigateway.ErrTooMany
		}
		if err != nil {
			return changed{}, err
		}
		next := old
		next.word = memberWord(admin)
		return memberChanged(team, old, next), tx.Change(`INSERT INTO gateway_members (team, user_id, admin) VALUES ($1, $2, $3)
			ON CONFLICT (team, user_id) DO UPDATE SET admin = excluded.admin, issuer = ''`, database.Text(team), user, admin)
	})
}

// RemoveMember implements aigateway.Teams.
func (s teams) RemoveMember(ctx context.Context, team string, user int64, withKeys bool) error {
	return s.tables.change(ctx, "removing member", func(tx database.Statements) (changed, error) {
		old, err := memberOf(tx, team, user)
		if err != nil {
			return changed{}, err
		}
		n, err := tx.Exec(`DELETE FROM gateway_members WHERE team = $1 AND user_id = $2`, database.Text(team), user)
		if err == nil && n == 0 {
			err = aigateway.ErrNoMember
		}
		if err != nil {
			return changed{}, err
		}
		lost, err := removeKeys(tx, team, user, withKeys)
		done := memberChanged(team, old, member{user: old.user})
		done.row.Changes = append(done.row.Changes, lost...)
		return done, err
	})
}

// checkMember returns aigateway.ErrNoMember if a limit is that of a team without the user.
func checkMember(db database.Statements, user int64, limit string) error {
	foreign, err := db.Number(`SELECT count(*) FROM gateway_teams t WHERE t.name = $1
		AND NOT EXISTS (SELECT 1 FROM gateway_members m WHERE m.team = t.name AND m.user_id = $2)`, database.Text(limit), user)
	if err == nil && foreign > 0 {
		err = aigateway.ErrNoMember
	}
	return err
}

// Keys implements aigateway.Teams.
func (s teams) Keys(ctx context.Context, team string, page aigateway.Page) ([]aigateway.StoredKey, int, error) {
	if _, err := s.Team(ctx, team); err != nil {
		return nil, 0, err
	}
	return listed(ctx, s.tables, "listing keys of team", page, scanShown, shownColumns,
		` FROM gateway_keys k WHERE k.folded LIKE $1 ESCAPE '\'`+notEnded+` AND k.limit_name = $3`, keyOrders.by(page, `k.id DESC`),
		millis(now()), database.Text(team))
}
