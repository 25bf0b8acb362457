package litellm

import (
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// accounts adds the users of the database. Their passwords stay behind, because the gateway has
// no hashes of their kind.
func (s *source) accounts(users map[string]*migration.Section) {
	known := map[string]bool{}
	var ids []string
	for id, row := range users {
		if id != "default_user_id" && id != "litellm-proxy-budget" { // rows of LiteLLM itself
			ids = append(ids, id)
			row.Place = "LiteLLM_UserTable " + id
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		row := users[id]
		user := migration.User{Name: strings.ToLower(ownerOf(row)), DisplayName: row.Text("user_alias"), Role: aigateway.RoleUser}
		if known[user.Name] {
			s.report.Add(migration.Changed, row.Place, "two users are %s: they become one", user.Name)
			continue
		}
		known[user.Name] = true
		switch role := row.Text("user_role"); {
		case role == "proxy_admin":
			user.Role = aigateway.RoleAdmin
		case strings.HasSuffix(role, "_viewer"):
			s.report.Add(migration.Changed, row.Place, "%s is a user: there are no viewers", user.Name)
		}
		if row.Text("password") != "" {
			s.report.Add(migration.Lost, row.Place, "the password of %s has a hash of another kind: set a new one with user passwd", user.Name)
		}
		s.gateway.Users = append(s.gateway.Users, user)
	}
}

// open adds what was spent of the budget of a level: nothing if the period of the amount is over.
func (l *limits) open(level level, limit string, key *migration.Key) {
	resetText := level.row.Text("budget_reset_at")
	_, own := level.row.Number("max_budget")
	if !own && level.budget != nil {
		resetText = level.budget.Text("budget_reset_at")
	}
	spender := level.row
	if level.spender != nil {
		spender = level.spender
	}
	spent, _ := spender.Number("spend")
	if reset, err := time.Parse(time.RFC3339, moment(resetText)); err == nil && !reset.After(time.Now()) {
		spent = 0
	}
	if spent = max(0, spent); spent == 0 && level.scope == "key" {
		return // nothing is within its budget
	}
	p, _ := period(level.duration())
	o := migration.Opening{Limit: limit, Amount: spent, Period: p}
	switch level.scope {
	case "key":
		o.Key, o.User = key.Name, key.Owner
	case "user":
		o.User = key.Owner
	}
	l.openings[level.kind] = append(l.openings[level.kind], o)
}

// duration returns the period of the budget of a level.
func (level *level) duration() string {
	duration := level.row.Text("budget_duration")
	if duration == "" && level.budget != nil {
		duration = level.budget.Text("budget_duration")
	}
	return duration
}

// opened returns what was spent, the innermost levels first.
func (l *limits) opened() (all []migration.Opening) {
	for _, kind := range [...]string{"key", "member", "user", "team", "organization"} {
		all = append(all, l.openings[kind]...)
	}
	return all
}
