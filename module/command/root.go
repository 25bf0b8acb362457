package command

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
)

const rootName = "root"

// login is what the banner says of accounts.
type login struct {
	Password string // of root, when it was made up now
	Exists   bool   // root is there since an earlier start
	Problem  string // why accounts cannot be opened; "" when they can
}

// prepareLogin makes the user root at the first start: while there is no user
// at all, so that one who was deleted stays so. What goes wrong is no reason
// not to serve.
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
