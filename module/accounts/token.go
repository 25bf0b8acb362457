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

// cookieName is the cookie that holds the token, as clients of this field know it.
const cookieName = "session"

// tokenPrefix tells a session token from an API key.
const tokenPrefix = "sess_"

// newToken returns a session token: 256 bits that nobody can guess.
func newToken() aigateway.Secret {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return aigateway.Secret(tokenPrefix + base64.RawURLEncoding.EncodeToString(random[:]))
}

func digest(token string) aigateway.Digest { return sha256.Sum256([]byte(token)) }

// setCookie keeps a token in the browser, where no script can read it and no
// other site can have it sent. An empty token forgets it.
func (c *call) setCookie(token aigateway.Secret, lasts time.Duration) {
	cookie := http.Cookie{
		Name: cookieName, Value: string(token), Path: "/",
		MaxAge: int(lasts / time.Second), HttpOnly: true,
		Secure: c.secure(), SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	c.header.Add("Set-Cookie", cookie.String())
}

var (
	errNoLogin    = refuse(http.StatusUnauthorized, "log in first")
	errNoSession  = refuse(http.StatusUnauthorized, "the session has ended: log in again")
	errCredential = invalid("a request has one credential: Authorization and the cookie session may each be there once")
)

// token returns the session token of a request, and whether a browser added it
// by itself. Authorization wins; a scheme other than Bearer is someone else's.
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

// authenticate finds out who asks: role and status are read anew each time.
func (a *Accounts) authenticate(c *call) error {
	token, byCookie, err := c.token()
	switch {
	case err != nil:
		return err
	case token == "":
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
