package accounts

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// members answers GET /api/v1/teams/{name}/members.
func (t teams) members(c *call.Call) (any, error) {
	if _, err := c.Administered(c.Context(), c.PathValue("name")); err != nil {
		return nil, err
	}
	page, err := c.Page()
	if err != nil {
		return nil, err
	}
	found, total, err := t.store().Members(c.Context(), c.PathValue("name"), page)
	if err != nil {
		return nil, err
	}
	return call.Listed(page, answer.Views(found, viewMember), total), nil
}

func viewMember(m *aigateway.Member) api.Member { return api.Member{User: m.User, Admin: m.Admin} }

// memberFields are the members of the body of a request about a member of a team.
type memberFields struct {
	Admin bool `json:"admin"`
}

// setMember answers PUT /api/v1/teams/{name}/members/{user}, which adds a member or changes whether
// a member administrates the team.
func (t teams) setMember(c *call.Call, wanted memberFields) (any, error) {
	if _, err := c.Administered(c.Context(), c.PathValue("name")); err != nil {
		return nil, err
	}
	user, err := t.people.ByName(c.Context(), c.PathValue("user"))
	if err != nil {
		return nil, err
	}
	err = t.store().SetMember(c.Context(), c.PathValue("name"), user.ID, wanted.Admin, people.MaxTeams)
	if errors.Is(err, aigateway.ErrTooMany) {
		err = answer.Refuse(http.StatusConflict, "a user may be in at most %d teams", people.MaxTeams)
	}
	if err != nil {
		return nil, err
	}
	return api.Member{User: user.Name, Admin: wanted.Admin}, nil
}

// removeMember answers DELETE /api/v1/teams/{name}/members/{user}. With keys=delete, the keys of the
// team that the user owns are deleted, too.
func (t teams) removeMember(c *call.Call) (any, error) {
	if _, err := c.Administered(c.Context(), c.PathValue("name")); err != nil {
		return nil, err
	}
	withKeys, err := deletesKeys(c)
	if err != nil {
		return nil, err
	}
	user, err := t.people.Find(c.Context(), c.PathValue("user"))
	if err != nil {
		return nil, err
	}
	err = aigateway.ErrNoMember // of a name that nobody has
	if user != nil {
		err = t.store().RemoveMember(c.Context(), c.PathValue("name"), user.ID, withKeys)
	}
	if errors.Is(err, aigateway.ErrNoMember) {
		err = answer.Refuse(http.StatusNotFound, "the team has no member with this name")
	}
	return nil, err
}
