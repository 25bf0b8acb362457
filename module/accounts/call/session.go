package call

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// cookieName is the name of the cookie with the token, which existing clients expect.
const cookieName = "session"

// The beginnings of session tokens, which distinguish them from API keys.
const (
	TokenPrefix = "sess_"
	ProxyPrefix = TokenPrefix + "proxy_" // of a session that a proxy has begun
)

// NewToken returns a new session token with 256 random bits.
func NewToken(prefix string) aigateway.Secret {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return aigateway.Secret(prefix + base64.RawURLEncoding.EncodeToString(random[:]))
}

// Digest returns the digest of a token or of an API key, by which the store finds it.
func Digest(token string) aigateway.Digest { return sha256.Sum256([]byte(token)) }

// SessionDigest returns the digest of a session token. If a proxy has begun the session, the digest
// depends on whom the proxy names, so that the session ends for everybody else: the proxy may
// have logged another person in, in the same browser.
func (c *Call) SessionDigest(token string) aigateway.Digest {
	if strings.HasPrefix(token, ProxyPrefix) && c.proxy != nil {
		token += "\x00" + c.proxy.Subject(c.Request)
	}
	return Digest(token)
}

// SetCookie sets a cookie with the token, which scripts cannot read and which browsers do
// not send with requests of other sites, nor with those of another program beside the path that
// the site has cut off. An empty token deletes the cookie.
func (c *Call) SetCookie(token aigateway.Secret, lifetime time.Duration) {
	cookie := http.Cookie{
		Name: cookieName, Value: string(token), Path: aigateway.PathPrefix(c.Request) + "/",
		MaxAge: int(lifetime / time.Second), HttpOnly: true,
		Secure: c.secure(), SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	c.AnswerHeader.Add("Set-Cookie", cookie.String())
}

// The problems of a request whose session cannot be determined.
var (
	ErrNoLogin    = answer.Refuse(http.StatusUnauthorized, "log in first, at /api/user/login")    // there is no token
	ErrNoSession  = answer.Refuse(http.StatusUnauthorized, "the session has ended: log in again") // or is of a disabled user
	ErrCredential = answer.Invalid("Authorization and the cookie session must occur at most once each")
)

// token returns the session token of a request, and whether it comes from the cookie,
// which browsers add by themselves. Authorization takes precedence over the cookie. If its
// scheme is not Bearer, it may be meant for another handler, and token ignores it.
func (c *Call) token() (token string, byCookie bool, err error) {
	values := c.Header.Values("Authorization")
	cookies := slices.DeleteFunc(c.CookiesNamed(cookieName), func(cookie *http.Cookie) bool {
		return !strings.HasPrefix(cookie.Value, TokenPrefix) // of another program of this host
	})
	if len(values) > 1 || len(cookies) > 1 {
		return "", false, ErrCredential
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

// Authenticate sets the session and the user of the call. It reads them from the store
// each time, so that changes take effect at once.
func (c *Call) Authenticate() error {
	token, byCookie, err := c.token()
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(token, TokenPrefix): // none, or an API key
		return ErrNoLogin
	case byCookie && aigateway.CrossOrigin(c.Request):
		return ErrCrossOrigin
	}
	session, user, err := c.store.Session(c.Context(), c.SessionDigest(token))
	if errors.Is(err, aigateway.ErrNotFound) {
		return ErrNoSession
	}
	if err != nil {
		return err
	}
	if user.Disabled || !time.Now().Before(session.Expires) {
		return ErrNoSession
	}
	c.Session, c.User = session, user
	c.ActAs(user, session.ID)
	return nil
}
