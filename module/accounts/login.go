package accounts

import (
	"context"
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

// errWrong is the error for an unknown name, a wrong password and a disabled user.
var errWrong = answer.Refuse(http.StatusUnauthorized, "the username or the password is wrong, or the account is disabled")

var errPasswordOff = answer.Refuse(http.StatusForbidden, "logins with passwords are off: GET /api/signin lists the ways to sign in")

// logins are the sessions of users.
type logins struct {
	users    users
	guard    guard
	store    aigateway.Store
	lifetime time.Duration // of a session
	off      bool          // logins with passwords are refused
}

// loginView is the answer to a login. Older clients read the user from the embedded
// fields, and newer clients from the field user.
type loginView struct {
	AccessToken string      `json:"access_token"`
	TokenType   string      `json:"token_type"`
	Expires     int64       `json:"access_expires_at"`
	Session     sessionView `json:"session"`
	User        userView    `json:"user"`
	userView
}

// logIn answers POST /api/user/login.
func (l logins) logIn(c *call.Call) (any, error) {
	if l.off {
		return nil, errPasswordOff
	}
	if err := c.Form.Require("username", "password"); err != nil {
		return nil, err
	}
	name, password := foldName(*c.Form.Text("username")), *c.Form.Text("password")
	if len(password) > maxPassword {
		return nil, answer.Invalid("password must be at most %d bytes", maxPassword)
	}
	user, err := l.users.find(c.Context(), name)
	if err != nil {
		return nil, err
	}
	attempt, err := l.guard.beginLogin(c, name, user)
	if err != nil {
		return nil, err
	}
	right, err := l.guard.check(c, attempt, user, password, "login.fail")
	if err != nil {
		return nil, err
	}
	if !right {
		return nil, errWrong
	}
	c.ActAs(user, 0)
	if importedHash.MatchString(user.Password) {
		if user, err = l.renew(c, user, password); err != nil {
			return nil, err
		}
	}
	return l.open(c, user, call.TokenPrefix)
}

// renew replaces the imported hash of a password that has just been checked, and returns the
// user with the hash that is stored then: that of another login at the same time, if that was
// the first one.
func (l logins) renew(c *call.Call, user *aigateway.User, password string) (*aigateway.User, error) {
	hash, err := l.users.passwords.hash(c, password)
	if err != nil {
		return nil, err
	}
	renewed, err := l.store.ChangeUser(c.Context(), user.ID, 0, func(now *aigateway.User) error {
		if now.Password == user.Password {
			now.Password = hash
		}
		return nil
	})
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, errWrong
	}
	if err != nil || renewed.Password == hash {
		return renewed, err
	}
	right, err := l.users.passwords.verify(c.Context(), c.Principal(), renewed, password)
	if err == nil && !right {
		err = errWrong
	}
	return renewed, err
}

// find returns the user with this name, nil if there is none.
func (u users) find(ctx context.Context, name string) (*aigateway.User, error) {
	if !username.MatchString(name) {
		return nil, nil
	}
	user, err := u.store.UserByName(ctx, name)
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, nil
	}
	return user, err
}

// open creates a session for a user whose password or identity has just been checked.
func (l logins) open(c *call.Call, user *aigateway.User, prefix string) (any, error) {
	if err := l.guard.countChange(user); err != nil {
		return nil, err
	}
	token := call.NewToken(prefix)
	session := &aigateway.Session{
		UserID: user.ID, Digest: c.SessionDigest(string(token)),
		Expires: time.Now().Add(l.lifetime),
		Address: c.Address().String(), Agent: shorten(c.UserAgent(), maxAgent),
	}
	// The user may have changed since the check of the password. That change could not
	// end this session, so the user is checked again.
	err := l.store.CreateSession(c.Context(), session, maxSessions, func(now *aigateway.User) error {
		if now.Disabled || now.Password != user.Password {
			return errWrong
		}
		return nil
	})
	if errors.Is(err, aigateway.ErrNotFound) {
		err = errWrong
	}
	if err != nil {
		return nil, err
	}
	c.SetCookie(token, l.lifetime)
	return loginView{
		AccessToken: string(token), TokenType: "Bearer", Expires: session.Expires.Unix(),
		Session: viewSession(session, session.ID), User: viewUser(user), userView: viewUser(user),
	}, nil
}

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
