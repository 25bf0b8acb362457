package accounts

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// sessionView is a session in answers. Times are Unix seconds.
type sessionView struct {
	ID      int64  `json:"id"`
	Created int64  `json:"created_at"`
	Expires int64  `json:"expires_at"`
	Address string `json:"address"`
	Agent   string `json:"agent"`
	Current bool   `json:"current"` // the session of the request
}

func viewSession(s *aigateway.Session, current int64) sessionView {
	return sessionView{s.ID, s.Created.Unix(), s.Expires.Unix(), s.Address, s.Agent, s.ID == current}
}

// list answers GET /api/user/sessions.
func (l logins) list(c *call.Call) (any, error) {
	all, err := l.store.SessionsOf(c.Context(), c.User.ID)
	if err != nil {
		return nil, err
	}
	return answer.Views(all, func(s *aigateway.Session) sessionView { return viewSession(s, c.Session.ID) }), nil
}

// revoke answers DELETE /api/user/sessions/{id}.
func (l logins) revoke(c *call.Call) (any, error) {
	return nil, l.store.DeleteSession(c.Context(), c.User.ID, c.ID())
}

// revokeOthers answers DELETE /api/user/sessions. It ends all sessions of the user except
// the session of the request.
func (l logins) revokeOthers(c *call.Call) (any, error) {
	return nil, l.store.DeleteSessionsOf(c.Context(), c.User.ID, c.Session.ID)
}

// listOf answers GET /api/user/{id}/sessions.
func (l logins) listOf(c *call.Call) (any, error) {
	user, err := l.managed(c)
	if err != nil {
		return nil, err
	}
	all, err := l.store.SessionsOf(c.Context(), user.ID)
	if err != nil {
		return nil, err
	}
	return answer.Views(all, func(s *aigateway.Session) sessionView { return viewSession(s, c.Session.ID) }), nil
}

// revokeAllOf answers DELETE /api/user/{id}/sessions. It ends all sessions of the user except
// the session of the request.
func (l logins) revokeAllOf(c *call.Call) (any, error) {
	user, err := l.managed(c)
	if err != nil {
		return nil, err
	}
	return nil, l.store.DeleteSessionsOf(c.Context(), user.ID, c.Session.ID)
}

// managed returns the user that the path identifies, whose sessions the user of the call may
// see and end: those of users whom the user manages, and the own ones.
func (l logins) managed(c *call.Call) (*aigateway.User, error) {
	user, err := l.store.User(c.Context(), c.ID())
	if err == nil && !call.ManagesKeysOf(c.User, user) {
		err = call.ErrRole
	}
	return user, err
}

// logOut answers GET and POST /api/user/logout. It also succeeds without a session. It
// refuses requests from other sites: the browser does not send the cookie with them, but
// would delete the cookie because of the answer.
func (l logins) logOut(c *call.Call) (any, error) {
	if c.Header.Get("Authorization") == "" && aigateway.CrossOrigin(c.Request) {
		return nil, call.ErrCrossOrigin
	}
	err := c.Authenticate()
	if errors.Is(err, call.ErrCredential) {
		c.SetCookie("", 0) // a duplicate cookie would prevent every later request
	}
	if err == nil {
		err = l.store.DeleteSession(c.Context(), c.User.ID, c.Session.ID)
	}
	if err != nil && !errors.Is(err, call.ErrNoLogin) && !errors.Is(err, call.ErrNoSession) && !errors.Is(err, aigateway.ErrNotFound) {
		return nil, err
	}
	c.SetCookie("", 0)
	return nil, nil
}
