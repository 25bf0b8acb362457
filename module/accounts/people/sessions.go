package people

import (
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	maxSessions = 100 // sessions of a user; another login ends the oldest one
	maxAgent    = 256 // stored bytes of the User-Agent header
)

// ErrWrong is the error for an unknown name, a wrong password and a disabled user.
var ErrWrong = answer.Refuse(http.StatusUnauthorized, "the username or the password is wrong, or the account is disabled")

var errPasswordOff = answer.Refuse(http.StatusForbidden, "logins with passwords are off: GET /api/v1/signin lists the ways to sign in")

// Login is a session that has just begun.
type Login struct {
	Token   aigateway.Secret
	Session *aigateway.Session
	User    *aigateway.User
}

// LogIn creates a session for the user with a name and a password.
func (p *People) LogIn(c *call.Call, name, password string) (*Login, error) {
	if p.PasswordOff {
		return nil, errPasswordOff
	}
	if err := call.Require("username", name, "password", password); err != nil {
		return nil, err
	}
	if len(password) > MaxPassword {
		return nil, answer.Invalid("password must be at most %d bytes", MaxPassword)
	}
	user, err := p.Find(c.Context(), name)
	if err != nil {
		return nil, err
	}
	attempt, err := p.beginLogin(c, call.FoldName(name), user)
	if err != nil {
		return nil, err
	}
	right, err := p.check(c, attempt, user, password, "login.fail")
	if err != nil {
		return nil, err
	}
	if !right {
		return nil, ErrWrong
	}
	c.ActAs(user, 0)
	if importedHash.MatchString(user.Password) {
		if user, err = p.renew(c, user, password); err != nil {
			return nil, err
		}
	}
	return p.Open(c, user, call.TokenPrefix)
}

// renew replaces the imported hash of a password that has just been checked, and returns the
// user with the hash that is stored then: that of another login at the same time, if that was
// the first one.
func (p *People) renew(c *call.Call, user *aigateway.User, password string) (*aigateway.User, error) {
	hash, err := p.hash(c, password)
	if err != nil {
		return nil, err
	}
	renewed, err := p.Store.ChangeUser(c.Context(), user.ID, 0, func(now *aigateway.User) error {
		if now.Password == user.Password {
			now.Password = hash
		}
		return nil
	})
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, ErrWrong
	}
	if err != nil || renewed.Password == hash {
		return renewed, err
	}
	right, err := p.verify(c.Context(), c.Principal(), renewed, password)
	if err == nil && !right {
		err = ErrWrong
	}
	return renewed, err
}

// Open creates a session for a user whose password or identity has just been checked.
func (p *People) Open(c *call.Call, user *aigateway.User, prefix string) (*Login, error) {
	if err := p.CountChange(user); err != nil {
		return nil, err
	}
	token := call.NewToken(prefix)
	session := &aigateway.Session{
		UserID: user.ID, Digest: c.SessionDigest(string(token)),
		Expires: time.Now().Add(p.Session),
		Address: c.Address().String(), Agent: AgentOf(c),
	}
	// The user may have changed since the check of the password. That change could not
	// end this session, so the user is checked again.
	err := p.Store.CreateSession(c.Context(), session, maxSessions, func(now *aigateway.User) error {
		if now.Disabled || now.Password != user.Password {
			return ErrWrong
		}
		return nil
	})
	if errors.Is(err, aigateway.ErrNotFound) {
		err = ErrWrong
	}
	if err != nil {
		return nil, err
	}
	c.SetCookie(token, p.Session)
	return &Login{token, session, user}, nil
}

// LogOut ends the session of a call. It also succeeds without a session. It
// refuses requests from other sites: the browser does not send the cookie with them, but
// would delete the cookie because of the answer.
func (p *People) LogOut(c *call.Call) error {
	if c.Header.Get("Authorization") == "" && aigateway.CrossOrigin(c.Request) {
		return call.ErrCrossOrigin
	}
	err := c.Authenticate()
	if errors.Is(err, call.ErrCredential) {
		c.SetCookie("", 0) // a duplicate cookie would prevent every later request
	}
	if err == nil {
		err = p.Store.DeleteSession(c.Context(), c.User.ID, c.Session.ID)
	}
	if err != nil && !errors.Is(err, call.ErrNoLogin) && !errors.Is(err, call.ErrNoSession) && !errors.Is(err, aigateway.ErrNotFound) {
		return err
	}
	c.SetCookie("", 0)
	return nil
}

// AgentOf returns the User-Agent header of a call, shortened.
func AgentOf(c *call.Call) string { return shorten(c.UserAgent(), maxAgent) }

// shorten truncates a text of a client, and removes characters that are not printable.
func shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), limit)], "")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
