package litellm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// people are the rows of the database by their ids.
type people struct {
	users, teams, organizations, budgets, memberships map[string]*migration.Section
}

// keys returns the keys of the database, but for the sessions of LiteLLM's own pages and the
// master key with its digest. Their limits become limits of the gateway.
func (s *source) keys(t *Tables, master string) (keys []migration.Key) {
	p := people{
		users: byID(t.Users, "user_id"), teams: byID(t.Teams, "team_id"), organizations: byID(t.Organizations, "organization_id"),
		budgets: byID(t.Budgets, "budget_id"), memberships: byID(t.Memberships, "user_id", "team_id"),
	}
	names, skipped := migration.Names{}, 0
	byToken := map[string]migration.Key{}
	limits := &limits{people: &p, source: s, known: map[string]string{}, openings: map[string][]migration.Opening{}}
	rows := migration.Sections("LiteLLM_VerificationToken", t.Keys)
	slices.SortStableFunc(rows, func(a, b *migration.Section) int { return strings.Compare(a.Text("token"), b.Text("token")) })
	for _, row := range rows {
		if row.Text("team_id") == "litellm-dashboard" || digestOf(row.Text("token")) == master {
			skipped++
			continue
		}
		key, ok := s.key(row, &p, &names)
		if !ok {
			continue
		}
		key.Limit = limits.limitOf(row, &key)
		byToken[row.Text("token")] = key
		keys = append(keys, key)
	}
	for _, row := range migration.Sections("LiteLLM_DeprecatedVerificationToken", t.Deprecated) {
		key, ok := byToken[row.Text("active_token_id")]
		if !ok {
			s.report.Add(migration.Lost, row.Place, "its successor is not in the gateway")
			continue
		}
		key.Name, key.Digest, key.Expires = names.GiveKey(key.Name+"-before", "key"), digestOf(row.Text("token")), moment(row.Text("revoke_at"))
		key.Comment = "the key before its rotation"
		keys = append(keys, key)
	}
	if skipped > 0 {
		s.report.Add(migration.Changed, "LiteLLM_VerificationToken", "%s skipped: those of LiteLLM's own pages, and the master key", migration.Count(skipped, "row"))
	}
	if n := len(p.teams); n > 0 {
		s.report.Add(migration.Changed, "LiteLLM_TeamTable", "%s: budgets and rates become limits of the keys; for members and administrators, see caddy ai-gateway team add", migration.Count(n, "team"))
	}
	if n := len(t.Models); n > 0 {
		s.report.Add(migration.Lost, "LiteLLM_ProxyModelTable", "%s of the database: their parameters are encrypted", migration.Count(n, "model"))
	}
	s.accounts(p.users)
	s.gateway.Openings = limits.opened()
	if n := s.gateway.Opened(); n > 0 {
		s.report.Add(migration.Changed, "spend", "%s had spent something: --accounts writes that to the ledger, and without it budgets begin with their whole amounts", migration.Count(n, "budget"))
	}
	s.report.Kept = append(s.report.Kept, migration.Count(len(keys), "key"), migration.Count(len(s.gateway.Limits), "limit"), migration.Count(len(s.gateway.Users), "user"))
	return keys
}

// byID returns rows by the text of their columns.
func byID(rows []json.RawMessage, columns ...string) map[string]*migration.Section {
	all := map[string]*migration.Section{}
	for _, row := range migration.Sections("", rows) {
		var id []string
		for _, column := range columns {
			id = append(id, row.Text(column))
		}
		all[strings.Join(id, "\x00")] = row
	}
	return all
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// digestOf returns the digest of a token, which the table has as such, or, for old rows, as
// clear text; "" if it is neither.
func digestOf(token string) string {
	switch {
	case hexDigest.MatchString(token):
		return "sha256:" + token
	case strings.HasPrefix(token, "sk-"):
		return migration.Digest(token)
	}
	return ""
}

// key returns a row as a key without its limit.
func (s *source) key(row *migration.Section, p *people, names *migration.Names) (key migration.Key, ok bool) {
	alias := row.Text("key_alias")
	if key.Digest = digestOf(row.Text("token")); key.Digest == "" {
		s.report.Add(migration.Lost, row.Place, "the token of the key %q is not a digest", alias)
		return key, false
	}
	label := alias
	if label == "" {
		label = row.Text("key_name")
	}
	key.Name = names.GiveKey(label, "key-"+key.Digest[len("sha256:"):][:8])
	if alias != "" && alias != key.Name {
		key.Comment = strings.Join(strings.Fields(alias), " ")
	}
	key.Expires = moment(row.Text("expires"))
	user, team := p.users[row.Text("user_id")], p.teams[row.Text("team_id")]
	if user != nil {
		key.Owner = ownerOf(user)
	} else if team != nil {
		key.Owner = (&migration.Names{}).Give(team.Text("team_alias"), "")
	}
	key.Disabled = row.Flag("blocked") || team != nil && team.Flag("blocked")
	if end := row.Text("expires"); key.Expires == "" && end != "" && end != "infinity" {
		key.Disabled = true
		s.report.Add(migration.Changed, row.Place, "the key %s is disabled: its end is no time that can be read", key.Name)
	}
	s.allow(&key, row, user, team)
	for _, column := range [...]string{"model_max_budget", "aliases", "allowed_routes", "permissions", "config", "guardrails", "object_permission_id"} {
		if value := row.Take(column); !blank(value) {
			s.report.Add(migration.Lost, row.Place+"."+column, "the key %s: %s", key.Name, keyReasons[column])
		}
	}
	return key, true
}

// keyReasons are the reasons why columns of keys have no counterpart.
var keyReasons = map[string]string{
	"model_max_budget":     "limits do not distinguish models",
	"aliases":              "names of models hold for all keys: write a model block",
	"allowed_routes":       "keys may use all paths",
	"permissions":          "keys have no permissions",
	"config":               "keys have no settings",
	"guardrails":           "write a guard with keys: see the page on guards",
	"object_permission_id": "keys have no permissions",
}

// blank reports whether a value of a row is nothing.
func blank(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// ownerOf returns the name of a user: the address of e-mail, or else the id.
func ownerOf(user *migration.Section) string {
	name := strings.ToLower(user.Text("user_email"))
	if name == "" {
		name = user.Text("user_id")
	}
	return (&migration.Names{}).Give(name, "user")
}

// allow sets the models of a key: those of the key that its team may use, too. A list that
// becomes empty disables the key, because an empty list means all models here as there.
func (s *source) allow(key *migration.Key, row, user, team *migration.Section) {
	own, teams := s.expand(row.Texts("models")), []string(nil)
	if team != nil {
		teams = s.expand(team.Texts("models"))
	}
	everything := func(names []string) bool {
		return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
			return name == "*" || name == "all-proxy-models" || name == "all-org-models"
		})
	}
	if slices.Contains(own, "all-team-models") {
		own = nil
		if team == nil {
			s.report.Add(migration.Changed, row.Place, "the key %s may use all models: it names those of a team, and has none", key.Name)
		}
	}
	switch {
	case team == nil && user != nil && slices.Contains(user.Texts("models"), "no-default-models") && everything(own):
		key.Disabled = true
	case everything(own) && everything(teams):
		return
	case everything(own):
		key.Models = teams
	case everything(teams):
		key.Models = own
	default:
		for _, name := range own {
			if slices.Contains(teams, name) {
				key.Models = append(key.Models, name)
			}
		}
	}
	for _, name := range key.Models {
		if !s.has(name) {
			s.report.Add(migration.Changed, row.Place, "the key %s may use %s, which the gateway does not have", key.Name, name)
		}
	}
	key.Disabled = key.Disabled || !slices.ContainsFunc(key.Models, s.has)
}

// moment returns a time of the database by RFC 3339, "" for none. Without a zone, it is UTC.
func moment(text string) string {
	for _, layout := range [...]string{"2006-01-02T15:04:05", time.DateTime, time.RFC3339, time.DateTime + "Z07", time.DateTime + "Z07:00", "2006-01-02T15:04:05Z0700", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}
