package litellm

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/rows"
)

// Tables are the rows of the database that become keys, limits, users and opening amounts.
// Each row is an object in JSON, so that columns that other versions do not have are absent
// members.
type Tables struct {
	Keys, Deprecated, Users, Teams, Memberships, Organizations, Budgets, Models []json.RawMessage
}

// byName returns the rows by the names of their tables.
func (t *Tables) byName() map[string]*[]json.RawMessage {
	return map[string]*[]json.RawMessage{
		"LiteLLM_VerificationToken":           &t.Keys,
		"LiteLLM_DeprecatedVerificationToken": &t.Deprecated,
		"LiteLLM_UserTable":                   &t.Users,
		"LiteLLM_TeamTable":                   &t.Teams,
		"LiteLLM_TeamMembership":              &t.Memberships,
		"LiteLLM_OrganizationTable":           &t.Organizations,
		"LiteLLM_BudgetTable":                 &t.Budgets,
		"LiteLLM_ProxyModelTable":             &t.Models,
	}
}

// TableNames returns the names of the tables, sorted.
func TableNames() []string { return slices.Sorted(maps.Keys(new(Tables).byName())) }

// TablesOf returns tables that were read. A table that does not exist is empty, but for that
// of keys.
func TablesOf(all rows.Tables) (*Tables, error) {
	if all["LiteLLM_VerificationToken"] == nil {
		return nil, errors.New("the database has no table LiteLLM_VerificationToken")
	}
	t := new(Tables)
	for name, table := range t.byName() {
		*table = all[name]
	}
	return t, nil
}
