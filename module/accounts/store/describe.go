package store

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// description are the fields of an object in the audit log, each a name and a value.
type description [][2]string

// changesOf returns the fields that differ between two descriptions with the same names in
// the same order. A description is nil if the object does not exist at that time.
func changesOf(old, next description) (changes []aigateway.AuditChange) {
	for i := range max(len(old), len(next)) {
		var c aigateway.AuditChange
		if old != nil {
			c.Field, c.Before = old[i][0], old[i][1]
		}
		if next != nil {
			c.Field, c.After = next[i][0], next[i][1]
		}
		if c.Before != c.After {
			changes = append(changes, c)
		}
	}
	return changes
}

// updated returns the action of an update: disable, enable, password, rotate or update. It returns
// "" if nothing has changed.
func updated(kind string, changes []aigateway.AuditChange) string {
	switch {
	case len(changes) == 0:
		return ""
	case slices.ContainsFunc(changes, func(c aigateway.AuditChange) bool { return c.Field == "digest" }):
		return kind + ".rotate"
	case len(changes) > 1:
	case changes[0].Field == "password":
		return kind + ".password"
	case changes[0].Field == "disabled" && changes[0].After == "true":
		return kind + ".disable"
	case changes[0].Field == "disabled":
		return kind + ".enable"
	}
	return kind + ".update"
}

// userRow returns a row about a user.
func userRow(action string, u *aigateway.User, changes ...aigateway.AuditChange) aigateway.AuditEntry {
	return aigateway.AuditEntry{Action: action, Object: aigateway.ActorUser + u.Name, Changes: changes}
}

// sessionChange returns the field with the ID of a session.
func sessionChange(id int64) aigateway.AuditChange {
	return aigateway.AuditChange{Field: "session", After: strconv.FormatInt(id, 10)}
}

// describeUser describes a user. Of the password, it contains a digest of the salted hash.
// The time of the last login is no change.
func describeUser(u *aigateway.User) description {
	return description{
		{"id", strconv.FormatInt(u.ID, 10)}, {"display_name", u.DisplayName}, {"role", u.Role.String()},
		{"disabled", strconv.FormatBool(u.Disabled)}, {"password", shortDigest(u.Password)}, {"rules", u.Rules.String()},
	}
}

// keyRow returns a row about a key.
func keyRow(action string, k *aigateway.StoredKey, changes []aigateway.AuditChange) aigateway.AuditEntry {
	return aigateway.AuditEntry{Action: action, Object: "key/" + strconv.FormatInt(k.ID, 10), Changes: changes}
}

// describeKey describes a key. An update does not change the owner, who may be nil then.
func describeKey(owner *aigateway.User, k *aigateway.StoredKey) description {
	networks := make([]string, len(k.Bounds.Networks))
	for i, network := range k.Bounds.Networks {
		networks[i] = network.String()
	}
	replaced := ""
	if !k.Replaced.Until.IsZero() {
		replaced = describeTime(k.Replaced.Until)
	}
	fields := description{
		{"name", k.Name}, {"models", strings.Join(k.Bounds.Models, " ")}, {"from", strings.Join(networks, " ")},
		{"limit", k.Bounds.Limit}, {"rules", k.Bounds.Rules.String()}, {"tags", aigateway.FormatTags(k.Bounds.Tags)},
		{"disabled", strconv.FormatBool(k.Disabled)}, {"expires", describeTime(k.Expires)},
		{"digest", aigateway.ShortDigest(k.Digest)}, {"replaced_until", replaced},
	}
	if owner != nil {
		fields = append(fields, [2]string{"user", owner.Name})
	}
	return fields
}

// lostKeys returns the field with the IDs of keys that are deleted with something else, nil if
// there are none. which is the rest of a query from FROM on.
func lostKeys(db database.Statements, which string, args ...any) ([]aigateway.AuditChange, error) {
	var ids []string
	err := db.Each(func(row database.Scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id`+which+` ORDER BY id`, args...)
	if len(ids) == 0 {
		return nil, err
	}
	return []aigateway.AuditChange{{Field: "keys", Before: strings.Join(ids, " ")}}, err
}

// teamRow returns a row about a team.
func teamRow(action, name string, changes ...aigateway.AuditChange) aigateway.AuditEntry {
	return aigateway.AuditEntry{Action: action, Object: "team/" + name, Changes: changes}
}

func describeTeam(t *aigateway.Team) description {
	models := make([]string, len(t.Models))
	for i, model := range t.Models {
		models[i] = string(model)
	}
	return description{{"models", strings.Join(models, " ")}, {"rules", t.Rules.String()}}
}

// member is what a user is in a team.
type member struct {
	user *aigateway.User
	word string // member or admin, "" for neither
}

// memberOf returns what a user is in a team.
func memberOf(db database.Statements, team string, user int64) (m member, err error) {
	if _, err := teamByName(db, team); err != nil {
		return m, err
	}
	if m.user, err = userByID(db, user); err != nil {
		return m, err
	}
	var admin bool
	err = db.Row(`SELECT admin FROM gateway_members WHERE team = $1 AND user_id = $2`, database.Text(team), user).Scan(&admin)
	if errors.Is(err, sql.ErrNoRows) {
		return m, nil
	}
	m.word = memberWord(admin)
	return m, err
}

func memberWord(admin bool) string {
	if admin {
		return "admin"
	}
	return "member"
}

// memberChanged returns the change of a member of a team.
func memberChanged(team string, old, next member) changed {
	changes := changesOf(description{{"member " + old.user.Name, old.word}}, description{{"member " + old.user.Name, next.word}})
	if len(changes) == 0 {
		return changed{user: old.user.ID}
	}
	return changed{old.user.ID, teamRow("team.member", team, changes...)}
}

func describeTime(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// shortDigest returns the beginning of the digest of a text with a secret, "" without one.
func shortDigest(secret string) string {
	if secret == "" {
		return ""
	}
	return aigateway.ShortDigest(sha256.Sum256([]byte(secret)))
}
