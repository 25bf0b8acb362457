package accounts

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// members answers GET /api/teams/{name}/members.
func (t teams) members(c *call.Call) (any, error) {
	if _, err := c.Administered(c.Context(), c.PathValue); err != nil {
		return nil, err
	}
	view, page, err := c.Page()
	if err != nil {
		return nil, err
	}
	found, total, err := t.store.Members(c.Context(), c.PathValue, page)
	view.Items, view.Total = answer.Views(found, viewMember), total
	return view, err
}

// memberView is a member of a team in answers.
type memberView struct {
	User  string `json:"user"`
	Admin bool   `json:"admin"`
}

func viewMember(m *aigateway.Member) memberView { return memberView{m.User, m.Admin} }

// allMembers answers GET /ai_gateway/teams/{name}/members with all members.
func (t teams) allMembers(c *call.Call) (any, error) {
	list := []memberView{}
	err := eachPage(c, func(page aigateway.Page) (int, error) {
		found, _, err := t.store.Members(c.Context(), c.PathValue, page)
		list = append(list, answer.Views(found, viewMember)...)
		return len(found), err
	})
	return list, err
}

// maxTeams is the largest number of teams of a user.
const maxTeams = 100

// setMember answers PUT /api/teams/{name}/members, which adds a member or changes whether a
// member administrates the team.
func (t teams) setMember(c *call.Call) (any, error) {
	if _, err := c.Administered(c.Context(), c.PathValue); err != nil {
		return nil, err
	}
	if err := c.Form.Require("user"); err != nil {
		return nil, err
	}
	admin := call.ValueOr(c.Form.Flag("admin"), false)
	if err := c.Form.Err(); err != nil {
		return nil, err
	}
	user, err := t.users.byName(c, *c.Form.Text("user"))
	if err != nil {
		return nil, err
	}
	err = t.store.SetMember(c.Context(), c.PathValue, user.ID, admin, maxTeams)
	if errors.Is(err, aigateway.ErrTooMany) {
		err = answer.Refuse(http.StatusConflict, "a user may be in at most %d teams", maxTeams)
	}
	if err != nil {
		return nil, err
	}
	return memberView{user.Name, admin}, nil
}

// removeMember answers DELETE /api/teams/{name}/members, whose query names the user. With
// keys=delete, the keys of the team that the user owns are deleted, too.
func (t teams) removeMember(c *call.Call) (any, error) {
	if _, err := c.Administered(c.Context(), c.PathValue); err != nil {
		return nil, err
	}
	withKeys, err := deletesKeys(c)
	if err != nil {
		return nil, err
	}
	user, err := t.users.find(c.Context(), foldName(c.URL.Query().Get("user")))
	if err != nil {
		return nil, err
	}
	err = aigateway.ErrNoMember // of a name that nobody has
	if user != nil {
		err = t.store.RemoveMember(c.Context(), c.PathValue, user.ID, withKeys)
	}
	if errors.Is(err, aigateway.ErrNoMember) {
		err = answer.Refuse(http.StatusNotFound, "the team has no member with this name")
	}
	return nil, err
}
