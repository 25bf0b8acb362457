package command

import (
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const rootName = "root"

// login is the state of accounts, for the banner.
type login struct {
	Password string // password of the user root, if this start created it
	Exists   bool   // an earlier start created the user root
	Problem  string // why users cannot log in, "" if they can
}

// prepareLogin creates the user root if there are no users. A root user that an operator
// has deleted is not created again while other users exist. The gateway runs even if
// this fails.
func prepareLogin() login {
	a, err := openLocal(caddy.ActiveContext(), defaultStore, nil)
	if err != nil {
		return login{Problem: err.Error()}
	}
	defer a.close()
	users, err := listed[api.User](a, usersPath, make(url.Values))
	if err != nil {
		return login{Problem: err.Error()}
	}
	if len(users) == 0 {
		root, err := createUser(a, rootName, rootName, "")
		if err != nil {
			return login{Problem: err.Error()}
		}
		return login{Password: root.Password}
	}
	return login{Exists: call(a, http.MethodGet, userPath(rootName, ""), nil, nil) == nil}
}
