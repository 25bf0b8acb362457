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

// cookieName is the name of the cookie with the token, which existing clients expect.
const cookieName = "session"

// tokenPrefix distinguishes session tokens from API keys.
const tokenPrefix = "sess_"

// newToken returns a new session token with 256 random bits.
func newToken() aigateway.Secret {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return aigateway.Secret(tokenPrefix + base64.RawURLEncoding.EncodeToString(random[:]))
}

func digest(token string) aigateway.Digest { return sha256.Sum256([]byte(token)) }

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
func (a *Accounts) authenticate(c *call) error {
	token, byCookie, err := c.token()
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(token, tokenPrefix): // none, an API key, or a cookie of another program
		return errNoLogin
	case byCookie && aigateway.CrossOrigin(c.Request):
		return errCrossOrigin
	}
	session, user, err := a.store.Session(c.Context(), digest(token))
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
	return nil
}
