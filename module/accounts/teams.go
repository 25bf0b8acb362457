package accounts

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// teams are the teams of a store. Administrators make and change them.
type teams struct {
	store  aigateway.Teams
	users  users
	limits aigateway.LimitReader // nil for the commands of this machine
}

// teamView is a team in answers, with the words of the Caddyfile.
type teamView struct {
	Name       string   `json:"name"`
	Models     []string `json:"models"`     // empty: all
	Requests   string   `json:"requests"`   // "60/1m"; empty: not limited, as of the next
	Tokens     string   `json:"tokens"`     // "400000/1d"
	Concurrent int64    `json:"concurrent"` // 0: not limited
	Budget     string   `json:"budget"`     // "500/month EUR soft"; empty: none
	// Configured is true if the configuration defines a limit with the name of the team.
	// Its rules apply then, and the fields with rules are empty.
	Configured bool      `json:"configured"`
	Admin      bool      `json:"admin"` // the user of the request administrates the team
	Created    time.Time `json:"created"`
}

func (t teams) view(m *aigateway.Membership) teamView {
	v := teamView{Name: m.Name, Models: []string{}, Admin: m.Admin, Created: answer.Time(m.Created), Configured: t.configured(m.Name)}
	for _, model := range m.Models {
		v.Models = append(v.Models, string(model))
	}
	if rules := m.Rules; !v.Configured {
		v.Requests, v.Tokens, v.Concurrent, v.Budget = rules.Requests.Notation(), rules.Tokens.Notation(), rules.Concurrent, rules.Budget.Notation()
	}
	return v
}

// configured reports whether the configuration defines the limit of a team.
func (t teams) configured(name string) bool {
	return t.limits != nil && slices.Contains(t.limits.LimitNames(), name)
}

// answer returns the answer with a team as administrators see it, or the error of getting it.
func (t teams) answer(team *aigateway.Team, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return t.view(&aigateway.Membership{Team: *team, Admin: true}), nil
}

// list answers GET /api/teams: administrators see all teams, others those whose members they
// are.
func (t teams) list(c *call.Call) (any, error) {
	view, page, err := c.Page()
	if err != nil {
		return nil, err
	}
	if c.IsAdmin() {
		found, total, err := t.store.List(c.Context(), page)
		view.Items, view.Total = answer.Views(found, t.viewOfAdmin), total
		return view, err
	}
	found, err := c.Memberships(c.Context())
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(m aigateway.Membership) bool {
		return !strings.Contains(strings.ToLower(m.Name), strings.ToLower(page.Search))
	})
	begin := min(page.Offset, len(found))
	view.Items, view.Total = answer.Views(found[begin:min(begin+page.Limit, len(found))], t.view), len(found)
	return view, nil
}

func (t teams) viewOfAdmin(team *aigateway.Team) teamView {
	return t.view(&aigateway.Membership{Team: *team, Admin: true})
}

// listAll answers GET /ai_gateway/teams with all teams. The query may restrict the list to
// names that contain a text (search).
func (t teams) listAll(c *call.Call) (any, error) {
	list := []teamView{}
	err := eachPage(c, func(page aigateway.Page) (int, error) {
		found, _, err := t.store.List(c.Context(), page)
		list = append(list, answer.Views(found, t.viewOfAdmin)...)
		return len(found), err
	})
	return list, err
}

// show answers GET /api/teams/{name}.
func (t teams) show(c *call.Call) (any, error) {
	m, err := c.Membership(c.Context(), c.PathValue)
	if err != nil {
		return nil, err
	}
	return t.view(m), nil
}

// add answers POST /api/teams.
func (t teams) add(c *call.Call) (any, error) {
	if err := c.Form.Require("name"); err != nil {
		return nil, err
	}
	team := &aigateway.Team{Name: *c.Form.Text("name")}
	if !aigateway.IsName(team.Name) {
		return nil, answer.Invalid("name must be 1 to 64 letters, digits or ._@+- with a letter or digit first")
	}
	change, err := t.read(c, team.Name)
	if err == nil {
		err = change.apply(team)
	}
	if err != nil {
		return nil, err
	}
	err = t.store.Create(c.Context(), team)
	if errors.Is(err, aigateway.ErrTaken) {
		err = answer.Refuse(http.StatusConflict, "the name is taken by another team")
	}
	return t.answer(team, err)
}

// change answers PATCH /api/teams/{name}. Absent fields stay unchanged.
func (t teams) change(c *call.Call) (any, error) {
	change, err := t.read(c, c.PathValue)
	if err != nil {
		return nil, err
	}
	return t.answer(t.store.Change(c.Context(), c.PathValue, change.apply))
}

// remove answers DELETE /api/teams/{name}. With keys=delete in the query, the keys of the team
// are deleted, too.
func (t teams) remove(c *call.Call) (any, error) {
	withKeys, err := deletesKeys(c)
	if err != nil {
		return nil, err
	}
	return nil, t.store.Delete(c.Context(), c.PathValue, withKeys)
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
