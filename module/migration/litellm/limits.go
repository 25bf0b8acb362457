package litellm

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/migration"
)

// limits makes the limits of keys, each once.
type limits struct {
	*people
	source *source
	names  migration.Names
	known  map[string]string // the name of a limit by its level and id
}

// level is a row that bounds a key, alone or with others.
type level struct {
	kind, id string // which row it is
	name     string // of the limit
	per      string
	row      *section
	budget   *section // the row of a budget that the row names; nil for none
}

// of returns the name of the limit of a key, which is within those of its member or user, its
// team and its organization; "" for none.
func (l *limits) of(row *section, key *migration.Key) string {
	user, team := l.users[row.text("user_id")], l.teams[row.text("team_id")]
	levels := []level{{"key", key.Digest, "key-" + key.Name, "key", row, l.budgets[row.text("budget_id")]}}
	organization := row.text("organization_id")
	if team != nil {
		id := row.text("team_id")
		member := row.text("user_id") + "\x00" + id
		if m := l.memberships[member]; m != nil {
			levels = append(levels, level{"member", member, "member-" + key.Owner + "-" + team.text("team_alias"), "user", newSection("", nil), l.budgets[m.text("budget_id")]})
		}
		levels = append(levels, level{"team", id, "team-" + team.text("team_alias"), "group", team, nil})
		if of := team.text("organization_id"); of != "" {
			organization = of
		}
	} else if user != nil {
		levels = append(levels, level{"user", row.text("user_id"), "user-" + key.Owner, "user", user, nil})
	}
	if o := l.organizations[organization]; o != nil {
		levels = append(levels, level{"organization", organization, "organization-" + o.text("organization_alias"), "group", newSection("", nil), l.budgets[o.text("budget_id")]})
	}
	name := ""
	for _, level := range slices.Backward(levels) {
		name = l.add(level, name, key)
	}
	return name
}

// add adds the limit of a level within another one, unless it bounds nothing or is there. It
// returns the name of the innermost limit. A bound of zero disables the key.
func (l *limits) add(level level, within string, key *migration.Key) string {
	id := level.kind + "\x00" + level.id + "\x00" + within
	if name, ok := l.known[id]; ok {
		return name
	}
	hard, soft, zero := l.bounds(level)
	if zero {
		key.Disabled = true
		return within
	}
	for _, words := range [][]migration.Line{soft, hard} {
		if len(words) == 0 {
			continue
		}
		lines := []migration.Line{migration.Words("per", level.per)}
		if within != "" {
			lines = append(lines, migration.Words("within", within))
		}
		within = l.names.Give(level.name, level.kind)
		l.source.gateway.Limits = append(l.source.gateway.Limits, migration.Limit{Name: within, Lines: append(lines, words...)})
	}
	l.known[id] = within
	return within
}

// bounds returns the words of a level. A soft budget beside another one is a limit of its own.
func (l *limits) bounds(level level) (hard, soft []migration.Line, zero bool) {
	number := func(column string) (n float64, ok bool) {
		if n, ok = level.row.number(column); !ok && level.budget != nil {
			n, ok = level.budget.number(column)
		}
		zero = zero || ok && n == 0 && column != "soft_budget"
		return n, ok
	}
	for _, bound := range [...]struct{ column, word, period string }{
		{"rpm_limit", "requests", "/1m"}, {"tpm_limit", "tokens", "/1m"}, {"max_parallel_requests", "concurrent", ""},
	} {
		if n, ok := number(bound.column); ok {
			hard = append(hard, migration.Words(bound.word, decimal(n)+bound.period))
		}
	}
	duration := level.row.text("budget_duration")
	if duration == "" && level.budget != nil {
		duration = level.budget.text("budget_duration")
	}
	p, note := period(duration)
	most, bounded := number("max_budget")
	warned, ok := number("soft_budget")
	if bounded {
		hard = append(hard, migration.Words("budget", decimal(most)+"/"+p))
	}
	if words := migration.Words("budget", decimal(warned)+"/"+p, "soft"); ok && warned > 0 && bounded {
		soft = append(soft, words)
	} else if ok && warned > 0 {
		hard = append(hard, words)
	}
	if note != "" && (bounded || ok) {
		l.source.report.Add(migration.Changed, level.name, "%s", note)
	}
	return hard, soft, zero
}
