package accounts

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// members answers GET /api/teams/{name}/members.
func (t teams) members(c *call) (any, error) {
	if _, err := c.administered(c.Context(), c.pathValue); err != nil {
		return nil, err
	}
	view, page, err := c.page()
	if err != nil {
		return nil, err
	}
	found, total, err := t.store.Members(c.Context(), c.pathValue, page)
	view.Items, view.Total = views(found, viewMember), total
	return view, err
}

// memberView is a member of a team in answers.
type memberView struct {
	User  string `json:"user"`
	Admin bool   `json:"admin"`
}

func viewMember(m *aigateway.Member) memberView { return memberView{m.User, m.Admin} }

// allMembers answers GET /ai_gateway/teams/{name}/members with all members.
func (t teams) allMembers(c *call) (any, error) {
	list := []memberView{}
	err := eachPage(c, func(page aigateway.Page) (int, error) {
		found, _, err := t.store.Members(c.Context(), c.pathValue, page)
		list = append(list, views(found, viewMember)...)
		return len(found), err
	})
	return list, err
}

// maxTeams is the largest number of teams of a user.
const maxTeams = 100

// setMember answers PUT /api/teams/{name}/members, which adds a member or changes whether a
// member administrates the team.
func (t teams) setMember(c *call) (any, error) {
	if _, err := c.administered(c.Context(), c.pathValue); err != nil {
		return nil, err
	}
	if err := c.form.require("user"); err != nil {
		return nil, err
	}
	admin := valueOr(c.form.flag("admin"), false)
	if err := c.form.err(); err != nil {
		return nil, err
	}
	user, err := t.users.byName(c, *c.form.text("user"))
	if err != nil {
		return nil, err
	}
	err = t.store.SetMember(c.Context(), c.pathValue, user.ID, admin, maxTeams)
	if errors.Is(err, aigateway.ErrTooMany) {
		err = refuse(http.StatusConflict, "a user may be in at most %d teams", maxTeams)
	}
	if err != nil {
		return nil, err
	}
	return memberView{user.Name, admin}, nil
}

// removeMember answers DELETE /api/teams/{name}/members, whose query names the user. With
// keys=delete, the keys of the team that the user owns are deleted, too.
func (t teams) removeMember(c *call) (any, error) {
	if _, err := c.administered(c.Context(), c.pathValue); err != nil {
		return nil, err
	}
	withKeys, err := c.withKeys()
	if err != nil {
		return nil, err
	}
	user, err := t.users.find(c.Context(), foldName(c.URL.Query().Get("user")))
	if err != nil {
		return nil, err
	}
	err = aigateway.ErrNoMember // of a name that nobody has
	if user != nil {
		err = t.store.RemoveMember(c.Context(), c.pathValue, user.ID, withKeys)
	}
	if errors.Is(err, aigateway.ErrNoMember) {
		err = refuse(http.StatusNotFound, "the team has no member with this name")
	}
	return nil, err
}
