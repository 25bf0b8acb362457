package accounts

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// teams serves the teams. Administrators make and change them.
type teams struct{ people *people.People }

// store returns the store of the teams.
func (t teams) store() aigateway.Teams { return t.people.Store.Teams() }

func (t teams) view(m *aigateway.Membership) api.Team {
	v := api.Team{Name: m.Name, Models: []string{}, Admin: m.Admin, Created: answer.Time(m.Created), Configured: t.configured(m.Name)}
	for _, model := range m.Models {
		v.Models = append(v.Models, string(model))
	}
	if !v.Configured {
		v.Rules = viewRules(&m.Rules)
	}
	return v
}

func viewRules(rules *aigateway.LimitRules) api.Rules {
	return api.Rules{
		Requests: rules.Requests.Notation(), Tokens: rules.Tokens.Notation(), Concurrent: rules.Concurrent, Budget: rules.Budget.Notation(),
		Priority: rules.Priority,
	}
}

// configured reports whether the configuration defines the limit of a team.
func (t teams) configured(name string) bool {
	return t.people.Limits != nil && slices.Contains(t.people.Limits.LimitNames(), name)
}

// answer returns the answer with a team as administrators see it, or the error of getting it.
func (t teams) answer(team *aigateway.Team, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return t.viewOfAdmin(team), nil
}

// list answers GET /api/v1/teams: administrators see all teams, others those whose members they
// are.
func (t teams) list(c *call.Call) (any, error) {
	page, err := c.Page()
	if err != nil {
		return nil, err
	}
	if c.IsAdmin() {
		found, total, err := t.store().List(c.Context(), page)
		if err != nil {
			return nil, err
		}
		return call.Listed(page, answer.Views(found, t.viewOfAdmin), total), nil
	}
	found, err := c.Memberships(c.Context())
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(m aigateway.Membership) bool {
		return !strings.Contains(strings.ToLower(m.Name), strings.ToLower(page.Search))
	})
	begin := min(page.Offset, len(found))
	return call.Listed(page, answer.Views(found[begin:min(begin+page.Limit, len(found))], t.view), len(found)), nil
}

func (t teams) viewOfAdmin(team *aigateway.Team) api.Team {
	return t.view(&aigateway.Membership{Team: *team, Admin: true})
}

// show answers GET /api/v1/teams/{name}.
func (t teams) show(c *call.Call) (any, error) {
	m, err := c.Membership(c.Context(), c.PathValue("name"))
	if err != nil {
		return nil, err
	}
	return t.view(m), nil
}

// newTeam is the body of a request for a team.
type newTeam struct {
	Name string `json:"name"`
	teamFields
}

// add answers POST /api/v1/teams.
func (t teams) add(c *call.Call, wanted newTeam) (any, error) {
	if err := call.Require("name", wanted.Name); err != nil {
		return nil, err
	}
	team := &aigateway.Team{Name: wanted.Name}
	if !aigateway.IsName(team.Name) {
		return nil, answer.Invalid("name must be 1 to 64 letters, digits or ._@+- with a letter or digit first")
	}
	change, err := t.read(wanted.teamFields, team.Name)
	if err == nil {
		err = change.apply(team)
	}
	if err != nil {
		return nil, err
	}
	err = t.store().Create(c.Context(), team)
	if errors.Is(err, aigateway.ErrTaken) {
		err = answer.Refuse(http.StatusConflict, "the name is taken by another team")
	}
	return t.answer(team, err)
}

// change answers PATCH /api/v1/teams/{name}. Absent members stay unchanged.
func (t teams) change(c *call.Call, fields teamFields) (any, error) {
	change, err := t.read(fields, c.PathValue("name"))
	if err != nil {
		return nil, err
	}
	return t.answer(t.store().Change(c.Context(), c.PathValue("name"), change.apply))
}

// remove answers DELETE /api/v1/teams/{name}. With keys=delete in the query, the keys of the team
// are deleted, too.
func (t teams) remove(c *call.Call) (any, error) {
	withKeys, err := deletesKeys(c)
	if err != nil {
		return nil, err
	}
	return nil, t.store().Delete(c.Context(), c.PathValue("name"), withKeys)
}

// deletesKeys reads the parameter keys, by which a request also deletes keys of a team.
func deletesKeys(c *call.Call) (bool, error) {
	switch c.URL.Query().Get("keys") {
	case "":
		return false, nil
	case "delete":
		return true, nil
	}
	return false, answer.Invalid("keys must be delete, or absent")
}
