package command

import (
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/quickstart"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const rootName = "root"

// prepareLogin creates the user root if there are no users. A root user that an operator
// has deleted is not created again while other users exist. The gateway runs even if
// this fails.
func prepareLogin() quickstart.Login {
	a, err := openLocal(caddy.ActiveContext(), defaultStore, nil)
	if err != nil {
		return quickstart.Login{Problem: err.Error()}
	}
	defer a.close()
	users, err := listed[api.User](a, usersPath, make(url.Values))
	if err != nil {
		return quickstart.Login{Problem: err.Error()}
	}
	if len(users) == 0 {
		root, err := createUser(a, rootName, rootName, "")
		if err != nil {
			return quickstart.Login{Problem: err.Error()}
		}
		return quickstart.Login{Password: root.Password}
	}
	return quickstart.Login{Exists: call(a, http.MethodGet, userPath(rootName, ""), nil, nil) == nil}
}
