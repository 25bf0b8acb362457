package accounts

import (
	"errors"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// logins serves the session of a request.
type logins struct{ people *people.People }

// namePassword is the body of a login.
type namePassword struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// loginView is the answer to a login.
type loginView struct {
	Token   string      `json:"token"`
	Session sessionView `json:"session"`
	User    api.User    `json:"user"`
}

func viewLogin(l *people.Login) loginView {
	return loginView{string(l.Token), viewSession(l.Session, l.Session.ID), viewUser(l.User)}
}

// begin answers POST /api/v1/session.
func (l logins) begin(c *call.Call, given namePassword) (any, error) {
	login, err := l.people.LogIn(c, given.Username, given.Password)
	if err != nil {
		return nil, err
	}
	return viewLogin(login), nil
}

// specified answers POST /api/user/login, in the format that the clients of other gateways read.
// Older ones read the user from the embedded members, newer ones from the member user.
func (l logins) specified(c *call.Call, given namePassword) (any, error) {
	login, err := l.people.LogIn(c, given.Username, given.Password)
	if err != nil {
		return nil, err
	}
	return answer.NewLogin(login.Token, login.Session, login.User), nil
}

// present answers GET /api/v1/session with the account of the session, null without one. A page
// asks it before anyone has logged in, when a refusal would be a wrong alarm.
func (logins) present(c *call.Call) (any, error) {
	err := c.Authenticate()
	if errors.Is(err, call.ErrNoLogin) || errors.Is(err, call.ErrNoSession) {
		return presentView{}, nil
	}
	if err != nil {
		return nil, err
	}
	return presentView{new(viewUser(c.User))}, nil
}

// presentView says who is logged in.
type presentView struct {
	User *api.User `json:"user"`
}

// end answers DELETE /api/v1/session.
func (l logins) end(c *call.Call) (any, error) { return nil, l.people.LogOut(c) }

// sessions serves the sessions of users, of whom each user sees the own ones, and administrators
// those of users whom they manage.
type sessions struct{ users users }

// sessionView is a session in answers.
type sessionView struct {
	ID      int64     `json:"id"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Address string    `json:"address"`
	Agent   string    `json:"agent"`
	Current bool      `json:"current"` // the session of the request
}

func viewSession(s *aigateway.Session, current int64) sessionView {
	return sessionView{s.ID, answer.Time(s.Created), answer.Time(s.Expires), s.Address, s.Agent, s.ID == current}
}

// current returns the ID of the session of a call, 0 for none.
func current(c *call.Call) int64 {
	if c.Session == nil {
		return 0
	}
	return c.Session.ID
}

// list answers GET /api/v1/users/{name}/sessions.
func (s sessions) list(c *call.Call) (any, error) {
	user, err := s.users.managed(c)
	if err != nil {
		return nil, err
	}
	all, err := s.users.people.Store.SessionsOf(c.Context(), user.ID)
	if err != nil {
		return nil, err
	}
	return api.List(answer.Views(all, func(s *aigateway.Session) sessionView { return viewSession(s, current(c)) })), nil
}

// endOthers answers DELETE /api/v1/users/{name}/sessions. It ends all sessions of the user except
// the session of the request.
func (s sessions) endOthers(c *call.Call) (any, error) {
	user, err := s.users.managed(c)
	if err != nil {
		return nil, err
	}
	return nil, s.users.people.Store.DeleteSessionsOf(c.Context(), user.ID, current(c))
}

// end answers DELETE /api/v1/users/{name}/sessions/{id}.
func (s sessions) end(c *call.Call) (any, error) {
	user, err := s.users.managed(c)
	if err != nil {
		return nil, err
	}
	return nil, s.users.people.Store.DeleteSession(c.Context(), user.ID, c.ID())
}
