package store

import (
	"context"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const sessionColumns = `s.id, s.user_id, s.digest, s.created, s.expires, s.address, s.agent`

// sessionFields returns the destinations of a row of sessionColumns.
func sessionFields(s *aigateway.Session) []any {
	return []any{&s.ID, &s.UserID, digestColumn{s.Digest[:]}, timeColumn{&s.Created}, timeColumn{&s.Expires}, &s.Address, &s.Agent}
}

// CreateSession implements aigateway.Sessions.
func (s *Store) CreateSession(ctx context.Context, session *aigateway.Session, limit int, check func(*aigateway.User) error) error {
	created := *session
	created.Created = now()
	err := s.tables.recorder.write(ctx, "creating session", func(tx database.Statements) (changed, error) {
		user, err := userByID(tx, session.UserID)
		if err != nil {
			return changed{}, err
		}
		if err := check(user); err != nil {
			return changed{}, database.Refuse(err)
		}
		if err := recordLogin(tx, &created, limit); err != nil {
			return changed{}, err
		}
		err = tx.Row(`INSERT INTO gateway_sessions (user_id, digest, created, expires, address, agent)
			VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
			session.UserID, session.Digest[:], millis(created.Created), millis(session.Expires),
			database.Text(session.Address), database.Text(session.Agent)).Scan(&created.ID)
		return changed{user.ID, userRow("login.ok", user, sessionChange(created.ID))}, err
	})
	if err == nil {
		*session = created
	}
	return err
}

// recordLogin sets the time of the last login. It deletes expired sessions. It also
// deletes the oldest sessions of the user, so that fewer than limit remain.
func recordLogin(tx database.Statements, session *aigateway.Session, limit int) error {
	created := millis(session.Created)
	if err := tx.Change(`UPDATE gateway_users SET last_login = $1 WHERE id = $2`, created, session.UserID); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM gateway_sessions WHERE expires <= $1`, created); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM gateway_sessions WHERE user_id = $1 AND id NOT IN
		(SELECT id FROM gateway_sessions WHERE user_id = $1 ORDER BY id DESC LIMIT $2)`, session.UserID, limit-1)
	return err
}

// Session implements aigateway.Sessions.
func (s *Store) Session(ctx context.Context, digest aigateway.Digest) (*aigateway.Session, *aigateway.User, error) {
	var session aigateway.Session
	var user aigateway.User
	err := s.tables.db.Query(ctx, "reading session", func(db database.Statements) error {
		return db.Row(`SELECT `+sessionColumns+`, `+userColumns+`
			FROM gateway_sessions s JOIN gateway_users u ON u.id = s.user_id WHERE s.digest = $1`, digest[:]).
			Scan(append(sessionFields(&session), userFields(&user)...)...)
	})
	if err != nil {
		return nil, nil, err
	}
	return &session, &user, nil
}

// SessionsOf implements aigateway.Sessions.
func (s *Store) SessionsOf(ctx context.Context, user int64) (sessions []aigateway.Session, err error) {
	err = s.tables.db.Query(ctx, "listing sessions", func(db database.Statements) error {
		return db.Each(func(row database.Scanner) error {
			var session aigateway.Session
			err := row.Scan(sessionFields(&session)...)
			sessions = append(sessions, session)
			return err
		}, `SELECT `+sessionColumns+` FROM gateway_sessions s WHERE s.user_id = $1 AND s.expires > $2 ORDER BY s.id DESC`,
			user, millis(time.Now()))
	})
	return sessions, err
}

// DeleteSession implements aigateway.Sessions.
func (s *Store) DeleteSession(ctx context.Context, user, id int64) error {
	return s.tables.recorder.write(ctx, "deleting session", func(tx database.Statements) (changed, error) {
		owner, err := userByID(tx, user)
		if err == nil {
			err = tx.Change(`DELETE FROM gateway_sessions WHERE id = $1 AND user_id = $2`, id, user)
		}
		if err != nil {
			return changed{}, err
		}
		action := "session.end"
		if actor, _ := aigateway.ActorOf(ctx); actor.Session == id {
			action = "logout"
		}
		return changed{user, userRow(action, owner, sessionChange(id))}, nil
	})
}

// DeleteSessionsOf implements aigateway.Sessions.
func (s *Store) DeleteSessionsOf(ctx context.Context, user, kept int64) error {
	return s.tables.recorder.write(ctx, "deleting sessions", func(tx database.Statements) (changed, error) {
		n, err := endSessions(tx, user, kept)
		if err != nil || n == 0 {
			return changed{}, err
		}
		owner, err := userByID(tx, user)
		if err != nil {
			return changed{}, err
		}
		return changed{user, userRow("session.end_all", owner, aigateway.AuditChange{Field: "ended", After: strconv.FormatInt(n, 10)})}, nil
	})
}

// endSessions deletes the sessions of a user except one, and returns their number.
func endSessions(tx database.Statements, user, kept int64) (int64, error) {
	return tx.Exec(`DELETE FROM gateway_sessions WHERE user_id = $1 AND id <> $2`, user, kept)
}
