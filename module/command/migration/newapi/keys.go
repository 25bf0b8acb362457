package newapi

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

// people reads the users. Two whose names differ in letter case only block the import, because
// names here do not have it.
func (s *source) people(all []*migration.Section) {
	ids := map[string]string{}
	for _, row := range all {
		id, name := row.Text("id"), strings.ToLower(row.Text("username"))
		if row.Text("status") == "3" { // a deleted user of one-api
			continue
		}
		if !username.MatchString(name) {
			name = "user-" + id
			s.report.Add(migration.Changed, row.Place, "the name has other characters than those of names here: %s", name)
		}
		if other := ids[name]; other != "" {
			s.blocked = append(s.blocked, fmt.Errorf("the users %s and %s would both be %q: names have no letter case here; rename one of them", other, id, name))
			continue
		}
		ids[name], s.users[id], s.owners[id] = id, row, name
		user := migration.User{Name: name, DisplayName: cmp.Or(row.Text("display_name"), row.Text("username")), Role: aigateway.RoleUser, Disabled: row.Text("status") != "1"}
		switch row.Text("role") {
		case "10":
			user.Role = aigateway.RoleAdmin
		case "100":
			user.Role = aigateway.RoleRoot
		}
		user.SetPassword(row.Text("password"), row.Place, &s.report)
		s.gateway.Users = append(s.gateway.Users, user)
	}
}

// keys adds the keys with their limits.
func (s *source) keys(tokens []*migration.Section) {
	var names migration.Names
	limits := newLimits(s)
	others := 0
	for _, row := range tokens {
		user := s.users[row.Text("user_id")]
		if user == nil {
			s.report.Add(migration.Lost, row.Place, "its user does not exist")
			continue
		}
		group := cmp.Or(row.Text("group"), user.Text("group"), "default")
		if group == "auto" {
			group = cmp.Or(user.Text("group"), "default")
			s.report.Add(migration.Changed, row.Place, "the group auto becomes the group %s of its user", group)
		}
		if s.group != "" && group != s.group {
			others++
			continue
		}
		owner := s.owners[row.Text("user_id")]
		bare := strings.TrimPrefix(row.Text("key"), "sk-")
		key := migration.Key{
			Name: names.GiveKey(owner+"-"+row.Text("name")+"-"+row.Text("id"), "token-"+row.Text("id")), Comment: row.Text("name"),
			Digest: migration.Digest("sk-" + bare), Owner: owner,
			Disabled: bare == "" || row.Text("status") != "1" || user.Text("status") != "1",
		}
		if expired, ok := row.Number("expired_time"); ok && expired > 0 && expired < 1<<36 {
			key.Expires = time.Unix(int64(expired), 0).UTC().Format(time.RFC3339)
		}
		s.allow(&key, row, group)
		s.networks(&key, row)
		key.Limit = limits.limitOf(&key, row, user, group)
		s.gateway.Keys = append(s.gateway.Keys, key)
	}
	if others > 0 {
		s.report.Add(migration.Lost, "tokens", "%s of other groups than %s: make a site for each group", migration.Count(others, "key"), s.group)
	}
}

// allow sets the models of a key: those of its group, and of its own list if it has one.
func (s *source) allow(key *migration.Key, row *migration.Section, group string) {
	served := s.served[group]
	own := list(row.Text(s.limits), ",")
	bounded := len(own) > 0
	if _, ok := row.Values["model_limits_enabled"]; ok {
		bounded = row.Flag("model_limits_enabled")
	}
	if len(served) == 0 {
		s.report.Add(migration.Changed, row.Place, "the key %s is disabled: its group %s has no model in the gateway", key.Name, group)
	}
	if !bounded && len(served) == len(s.gateway.Models) {
		key.Disabled = key.Disabled || len(served) == 0
		return
	}
	for _, name := range served {
		if !bounded || slices.Contains(own, name) {
			key.Models = append(key.Models, name)
		}
	}
	for _, name := range own {
		if bounded && !slices.Contains(served, name) {
			s.report.Add(migration.Changed, row.Place, "the key %s may use %s, which the gateway does not have in the group %s", key.Name, name, group)
		}
	}
	key.Disabled = key.Disabled || len(key.Models) == 0
}

// networks sets the networks of a key. A text that is none disables it.
func (s *source) networks(key *migration.Key, row *migration.Section) {
	for _, network := range list(row.Text(s.column), ", \r\n\t") {
		if _, err := aigateway.ParseNetwork(network); err != nil {
			key.Disabled = true
			s.report.Add(migration.Changed, row.Place, "the key %s is disabled: %s has something that is not a network", key.Name, s.column)
			continue
		}
		key.Networks = append(key.Networks, network)
	}
}

// limits makes the limits of keys.
type limits struct {
	source *source
	ratios map[string]float64
	rates  map[string]string // the limit with the rate of each group
	users  map[string]string // the limit of each user
	names  migration.Names
}

// newLimits adds the limits with the rates of groups.
func newLimits(s *source) *limits {
	l := &limits{source: s, ratios: s.ratios("GroupRatio"), rates: map[string]string{}, users: map[string]string{}}
	minutes := cmp.Or(s.option("ModelRequestRateLimitDurationMinutes"), 1)
	if s.options["ModelRequestRateLimitEnabled"] != "true" {
		return l
	}
	all, groups := s.option("ModelRequestRateLimitCount"), object(s.options["ModelRequestRateLimitGroup"])
	for _, group := range slices.Sorted(maps.Keys(s.served)) {
		if s.group != "" && group != s.group {
			continue
		}
		largest := all
		if pair := groups.Texts(group); len(pair) == 2 {
			largest, _ = migration.NewSection("", map[string]any{"n": pair[0]}).Number("n")
		}
		if largest >= 1 {
			l.rates[group] = l.add("rate-"+group, "user", "", migration.Words("requests", fmt.Sprintf("%.0f/%.0fm", largest, minutes)))
		}
	}
	s.report.Add(migration.Changed, "options ModelRequestRateLimit", "rates count all requests: bounds of successful ones have no counterpart")
	return l
}

// add adds a limit within another one, and returns its name.
func (l *limits) add(text, scope, outer string, rule migration.Line) string {
	name := l.names.Give(text, "limit")
	lines := []migration.Line{migration.Words("per", scope)}
	if outer != "" {
		lines = append(lines, migration.Words("within", outer))
	}
	l.source.gateway.Limits = append(l.source.gateway.Limits, migration.Limit{Name: name, Lines: append(lines, rule)})
	return name
}

// budget adds a limit with what is left of a quota. A quota without a rest disables the key,
// and one above the largest budget is no limit.
func (l *limits) budget(scope, outer, group string, quota float64, key *migration.Key) string {
	amount := quota / l.source.perUnit
	if ratio, ok := l.ratios[group]; ok && ratio > 0 && ratio != 1 {
		amount /= ratio // what was charged is not what it cost
	}
	switch text, bounded, none := migration.Budget(amount); {
	case none:
		key.Disabled = true
	case !bounded:
		l.source.report.Add(migration.Changed, key.Name, "a quota that is larger than any budget is no limit")
	default:
		return l.add(key.Name, scope, outer, migration.Words("budget", text+"/total"))
	}
	return outer
}

// limitOf returns the limit of a key: what is left of its own quota, within what is left of its
// user's, within the rate of the group; "" for none. The quota of the root user counts nothing.
func (l *limits) limitOf(key *migration.Key, row, user *migration.Section, group string) string {
	id := user.Text("id")
	outer := l.rates[group]
	if user.Text("role") != "100" {
		name, known := l.users[id+" "+group]
		if !known {
			quota, _ := user.Number("quota")
			whole := migration.Key{Name: "user-" + key.Owner}
			name = l.budget("user", outer, group, quota, &whole)
			if whole.Disabled {
				name = "disabled"
				l.source.report.Add(migration.Changed, user.Place, "the keys of %s are disabled: nothing is left of the quota", key.Owner)
			}
			for other := range l.users {
				if strings.HasPrefix(other, id+" ") {
					l.source.report.Add(migration.Changed, user.Place, "the keys of %s have several groups, and in each of them what is left of the quota", key.Owner)
					break
				}
			}
			l.users[id+" "+group] = name
		}
		if name == "disabled" {
			key.Disabled = true
			return outer
		}
		outer = name
	}
	if row.Flag("unlimited_quota") {
		return outer
	}
	quota, _ := row.Number("remain_quota")
	return l.budget("key", outer, group, quota, key)
}
