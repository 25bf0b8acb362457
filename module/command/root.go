package command

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
)

const rootName = "root"

// login is the state of accounts, for the banner.
type login struct {
	Password string // of the user root, if this start has created it
	Exists   bool   // the user root exists since an earlier start
	Problem  string // why accounts cannot be opened, "" if they can
}

// prepareLogin creates the user root if there are no users, so that it does not
// create a deleted root again. An error does not keep the gateway from running.
func prepareLogin() login {
	a, err := openLocal(caddy.ActiveContext(), defaultStore)
	if err != nil {
		return login{Problem: err.Error()}
	}
	defer a.close()
	var users []account
	if err := call(a, http.MethodGet, usersPath, nil, &users); err != nil {
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
