package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"

// User is a user in an envelope, with the names of members that existing clients of LLM gateways
// use. Times are Unix seconds, 0 for never.
type User struct {
	ID          int64  `json:"id"`
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Role        int    `json:"role"`
	Status      int    `json:"status"`
	Group       string `json:"group"` // always "default"
	Created     int64  `json:"created_at"`
	LastLogin   int64  `json:"last_login_at"`
}

// The status of users and keys in envelopes.
const (
	Enabled  = 1
	Disabled = 2
	Expired  = 3
)

// StatusOf returns the status of a user or a key.
func StatusOf(disabled bool) int {
	if disabled {
		return Disabled
	}
	return Enabled
}

// ViewUser returns a user as in envelopes.
func ViewUser(u *aigateway.User) User {
	return User{
		ID: u.ID, Username: u.Name, DisplayName: u.DisplayName, Role: int(u.Role),
		Status: StatusOf(u.Disabled), Group: "default", Created: Unix(u.Created, 0), LastLogin: Unix(u.LastLogin, 0),
	}
}

// Login is a login in an envelope. Older clients read the user from the embedded members, and newer
// ones from the member user.
type Login struct {
	AccessToken string  `json:"access_token"`
	TokenType   string  `json:"token_type"`
	Expires     int64   `json:"access_expires_at"`
	Session     Session `json:"session"`
	OfUser      User    `json:"user"`
	User
}

// Session is a session in the answer to a login. Times are Unix seconds.
type Session struct {
	ID      int64  `json:"id"`
	Created int64  `json:"created_at"`
	Expires int64  `json:"expires_at"`
	Address string `json:"address"`
	Agent   string `json:"agent"`
	Current bool   `json:"current"` // always true
}

// NewLogin returns the answer to a login that has begun a session.
func NewLogin(token aigateway.Secret, s *aigateway.Session, u *aigateway.User) Login {
	return Login{
		AccessToken: string(token), TokenType: "Bearer", Expires: s.Expires.Unix(),
		Session: Session{s.ID, s.Created.Unix(), s.Expires.Unix(), s.Address, s.Agent, true},
		OfUser:  ViewUser(u), User: ViewUser(u),
	}
}
