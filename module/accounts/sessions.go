package accounts

import (
	"errors"

	"go.uber.org/zap"

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

// sessions answers GET /api/user/sessions.
func (a *Accounts) sessions(c *call) (any, error) {
	all, err := a.store.SessionsOf(c.Context(), c.user.ID)
	if err != nil {
		return nil, err
	}
	views := make([]sessionView, len(all))
	for i := range all {
		views[i] = viewSession(&all[i], c.session.ID)
	}
	return views, nil
}

// revoke answers DELETE /api/user/sessions/{id}.
func (a *Accounts) revoke(c *call) (any, error) {
	if err := a.store.DeleteSession(c.Context(), c.user.ID, c.id()); err != nil {
		return nil, err
	}
	a.logger.Info("session revoked", zap.Int64("user_id", c.user.ID), zap.Int64("session_id", c.id()))
	return nil, nil
}

// revokeOthers answers DELETE /api/user/sessions. It ends all sessions of the user except
// the session of the request.
func (a *Accounts) revokeOthers(c *call) (any, error) {
	if err := a.store.DeleteSessionsOf(c.Context(), c.user.ID, c.session.ID); err != nil {
		return nil, err
	}
	a.logger.Info("other sessions revoked", zap.Int64("user_id", c.user.ID))
	return nil, nil
}

// logout answers GET and POST /api/user/logout. It also succeeds without a session. It
// refuses requests from other sites: the browser does not send the cookie with them, but
// would delete the cookie because of the answer.
func (a *Accounts) logout(c *call) (any, error) {
	if c.Header.Get("Authorization") == "" && aigateway.CrossOrigin(c.Request) {
		return nil, errCrossOrigin
	}
	err := a.authenticate(c)
	if errors.Is(err, errCredential) {
		c.setCookie("", 0) // a duplicate cookie would prevent every later request
	}
	if err == nil {
		err = a.store.DeleteSession(c.Context(), c.user.ID, c.session.ID)
	}
	if err != nil && !errors.Is(err, errNoLogin) && !errors.Is(err, errNoSession) && !errors.Is(err, aigateway.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		a.logger.Info("logged out", zap.Int64("user_id", c.user.ID))
	}
	c.setCookie("", 0)
	return nil, nil
}
