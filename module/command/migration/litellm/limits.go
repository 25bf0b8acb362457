package litellm

import (
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// limits makes the limits of keys, each once.
type limits struct {
	*people
	source *source
	names  migration.Names
	known  map[string]string // the name of a limit by its level and id

	openings map[string][]migration.Opening // by the kind of their levels
}

// level is a row that bounds a key, alone or with others.
type level struct {
	kind, id string // which row it is
	name     string // of the limit
	scope    string
	row      *migration.Section
	budget   *migration.Section // the row of a budget that the row names; nil for none
	spender  *migration.Section // the row with what was spent; nil for row
}

// limitOf returns the name of the limit of a key, which is within those of its member or user, its
// team and its organization; "" for none.
func (l *limits) limitOf(row *migration.Section, key *migration.Key) string {
	user, team := l.users[row.Text("user_id")], l.teams[row.Text("team_id")]
	levels := []level{{"key", key.Digest, "key-" + key.Name, "key", row, l.budgets[row.Text("budget_id")], nil}}
	organization := row.Text("organization_id")
	if team != nil {
		id := row.Text("team_id")
		member := row.Text("user_id") + "\x00" + id
		if m := l.memberships[member]; m != nil {
			levels = append(levels, level{"member", member, "member-" + key.Owner + "-" + team.Text("team_alias"), "user", migration.NewSection("", nil), l.budgets[m.Text("budget_id")], m})
		}
		levels = append(levels, level{"team", id, "team-" + team.Text("team_alias"), "group", team, nil, nil})
		if limitOf := team.Text("organization_id"); limitOf != "" {
			organization = limitOf
		}
	} else if user != nil {
		levels = append(levels, level{"user", row.Text("user_id"), "user-" + key.Owner, "user", user, nil, nil})
	}
	if o := l.organizations[organization]; o != nil {
		levels = append(levels, level{"organization", organization, "organization-" + o.Text("organization_alias"), "group", migration.NewSection("", nil), l.budgets[o.Text("budget_id")], o})
	}
	name := ""
	for _, level := range slices.Backward(levels) {
		name = l.add(level, name, key)
	}
	return name
}

// add adds the limit of a level within another one, unless it bounds nothing or is there. It
// returns the name of the innermost limit. A bound of zero disables the key.
func (l *limits) add(level level, outer string, key *migration.Key) string {
	id := level.kind + "\x00" + level.id + "\x00" + outer
	if name, ok := l.known[id]; ok {
		return name
	}
	hard, soft, zero := l.bounds(level)
	if zero {
		key.Disabled = true
		return outer
	}
	for _, words := range [][]migration.Line{soft, hard} {
		if len(words) == 0 {
			continue
		}
		lines := []migration.Line{migration.Words("per", level.scope)}
		if outer != "" {
			lines = append(lines, migration.Words("within", outer))
		}
		outer = l.names.Give(level.name, level.kind)
		l.source.gateway.Limits = append(l.source.gateway.Limits, migration.Limit{Name: outer, Lines: append(lines, words...)})
	}
	l.known[id] = outer
	if slices.ContainsFunc(slices.Concat(hard, soft), func(line migration.Line) bool { return line.Words[0] == "budget" }) {
		l.open(level, outer, key)
	}
	return outer
}

// mostRate is the largest amount of a rate.
const mostRate = 1_000_000_000_000

// least returns the least amount of a bound that admits something.
func least(column string) float64 {
	if column == "max_budget" {
		return 0.000001
	}
	return 1
}

// bounds returns the words of a level. A soft budget beside another one is a limit of its own.
func (l *limits) bounds(level level) (hard, soft []migration.Line, zero bool) {
	number := func(column string) (n float64, ok bool) {
		if n, ok = level.row.Number(column); !ok && level.budget != nil {
			n, ok = level.budget.Number(column)
		}
		zero = zero || ok && n < least(column) && column != "soft_budget"
		return n, ok
	}
	for _, bound := range [...]struct{ column, word, period string }{
		{"rpm_limit", "requests", "/1m"}, {"tpm_limit", "tokens", "/1m"}, {"max_parallel_requests", "concurrent", ""},
	} {
		if n, ok := number(bound.column); ok && n > mostRate {
			l.source.report.Add(migration.Changed, level.name, "%s is larger than any limit, and is none", bound.column)
		} else if n = math.Floor(n); ok && n > 0 {
			hard = append(hard, migration.Words(bound.word, migration.Decimal(n)+bound.period))
		}
	}
	p, note := period(level.duration())
	budget, bounded := number("max_budget")
	warned, ok := number("soft_budget")
	if text, possible, _ := migration.Budget(budget); bounded && possible {
		hard = append(hard, migration.Words("budget", text+"/"+p))
	} else if bounded {
		l.source.report.Add(migration.Changed, level.name, "max_budget is larger than any budget, and is none")
	}
	text, possible, none := migration.Budget(warned)
	if words := migration.Words("budget", text+"/"+p, "soft"); !ok || none || !possible {
		ok = false
	} else if bounded {
		soft = append(soft, words)
	} else {
		hard = append(hard, words)
	}
	if note != "" && (bounded || ok) {
		l.source.report.Add(migration.Changed, level.name, "%s", note)
	}
	return hard, soft, zero
}
