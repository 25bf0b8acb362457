package accounts

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

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
func (l logins) list(c *call) (any, error) {
	all, err := l.store.SessionsOf(c.Context(), c.user.ID)
	if err != nil {
		return nil, err
	}
	return views(all, func(s *aigateway.Session) sessionView { return viewSession(s, c.session.ID) }), nil
}

// revoke answers DELETE /api/user/sessions/{id}.
func (l logins) revoke(c *call) (any, error) {
	return nil, l.store.DeleteSession(c.Context(), c.user.ID, c.id())
}

// revokeOthers answers DELETE /api/user/sessions. It ends all sessions of the user except
// the session of the request.
func (l logins) revokeOthers(c *call) (any, error) {
	return nil, l.store.DeleteSessionsOf(c.Context(), c.user.ID, c.session.ID)
}

// listOf answers GET /api/user/{id}/sessions.
func (l logins) listOf(c *call) (any, error) {
	user, err := l.managed(c)
	if err != nil {
		return nil, err
	}
	all, err := l.store.SessionsOf(c.Context(), user.ID)
	if err != nil {
		return nil, err
	}
	return views(all, func(s *aigateway.Session) sessionView { return viewSession(s, c.session.ID) }), nil
}

// revokeAllOf answers DELETE /api/user/{id}/sessions. It ends all sessions of the user except
// the session of the request.
func (l logins) revokeAllOf(c *call) (any, error) {
	user, err := l.managed(c)
	if err != nil {
		return nil, err
	}
	return nil, l.store.DeleteSessionsOf(c.Context(), user.ID, c.session.ID)
}

// managed returns the user that the path identifies, whose sessions the user of the call may
// see and end: those of users whom the user manages, and the own ones.
func (l logins) managed(c *call) (*aigateway.User, error) {
	user, err := l.store.User(c.Context(), c.id())
	if err == nil && !managesKeysOf(c.user, user) {
		err = errRole
	}
	return user, err
}

// logOut answers GET and POST /api/user/logout. It also succeeds without a session. It
// refuses requests from other sites: the browser does not send the cookie with them, but
// would delete the cookie because of the answer.
func (l logins) logOut(c *call) (any, error) {
	if c.Header.Get("Authorization") == "" && aigateway.CrossOrigin(c.Request) {
		return nil, errCrossOrigin
	}
	err := c.authenticate()
	if errors.Is(err, errCredential) {
		c.setCookie("", 0) // a duplicate cookie would prevent every later request
	}
	if err == nil {
		err = l.store.DeleteSession(c.Context(), c.user.ID, c.session.ID)
	}
	if err != nil && !errors.Is(err, errNoLogin) && !errors.Is(err, errNoSession) && !errors.Is(err, aigateway.ErrNotFound) {
		return nil, err
	}
	c.setCookie("", 0)
	return nil, nil
}

// cookieName is the name of the cookie with the token, which existing clients expect.
const cookieName = "session"

// The beginnings of session tokens, which distinguish them from API keys.
const (
	tokenPrefix = "sess_"
	proxyPrefix = tokenPrefix + "proxy_" // of a session that a proxy has begun
)

// newToken returns a new session token with 256 random bits.
func newToken(prefix string) aigateway.Secret {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return aigateway.Secret(prefix + base64.RawURLEncoding.EncodeToString(random[:]))
}

func digest(token string) aigateway.Digest { return sha256.Sum256([]byte(token)) }

// digest returns the digest of a session token. If a proxy has begun the session, the digest
// depends on whom the proxy names, so that the session ends for everybody else: the proxy may
// have logged another person in, in the same browser.
func (c *call) digest(token string) aigateway.Digest {
	if strings.HasPrefix(token, proxyPrefix) && c.proxy != nil {
		token += "\x00" + c.proxy.Subject(c.Request)
	}
	return digest(token)
}

// setCookie sets a cookie with the token, which scripts cannot read and which browsers do
// not send with requests of other sites. An empty token deletes the cookie.
func (c *call) setCookie(token aigateway.Secret, lifetime time.Duration) {
	cookie := http.Cookie{
		Name: cookieName, Value: string(token), Path: "/",
		MaxAge: int(lifetime / time.Second), HttpOnly: true,
		Secure: c.secure(), SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	c.header.Add("Set-Cookie", cookie.String())
}

var (
	errNoLogin    = refuse(http.StatusUnauthorized, "log in first, at /api/user/login")
	errNoSession  = refuse(http.StatusUnauthorized, "the session has ended: log in again")
	errCredential = invalid("Authorization and the cookie session must occur at most once each")
)

// token returns the session token of a request, and whether it comes from the cookie,
// which browsers add by themselves. Authorization takes precedence over the cookie. If its
// scheme is not Bearer, it may be meant for another handler, and token ignores it.
func (c *call) token() (token string, byCookie bool, err error) {
	values := c.Header.Values("Authorization")
	cookies := c.CookiesNamed(cookieName)
	if len(values) > 1 || len(cookies) > 1 {
		return "", false, errCredential
	}
	if len(values) == 1 {
		scheme, token, _ := strings.Cut(values[0], " ")
		if strings.EqualFold(scheme, "Bearer") {
			return strings.Trim(token, " \t"), false, nil
		}
	}
	if len(cookies) == 1 {
		return cookies[0].Value, true, nil
	}
	return "", false, nil
}

// authenticate sets the session and the user of the call. It reads them from the store
// each time, so that changes take effect at once.
func (c *call) authenticate() error {
	token, byCookie, err := c.token()
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(token, tokenPrefix): // none, an API key, or a cookie of another program
		return errNoLogin
	case byCookie && aigateway.CrossOrigin(c.Request):
		return errCrossOrigin
	}
	session, user, err := c.store.Session(c.Context(), c.digest(token))
	if errors.Is(err, aigateway.ErrNotFound) {
		return errNoSession
	}
	if err != nil {
		return err
	}
	if user.Disabled || !time.Now().Before(session.Expires) {
		return errNoSession
	}
	c.session, c.user = session, user
	c.actAs(user, session.ID)
	return nil
}
