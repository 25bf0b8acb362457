package aigateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(UserCount{})
}

// UserCount serves only the number of users. It replaces the package module/accounts in a
// build without that package.
type UserCount struct {
	store aigateway.Store
}

func (UserCount) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.accounts",
		New: func() caddy.Module { return new(UserCount) },
	}
}

func (c *UserCount) UseStore(store aigateway.Store) { c.store = store }

func (*UserCount) LimitOfKeys() string { return "" }

func (*UserCount) ReserveNames(func(string) bool) {} // nobody can register

func (*UserCount) Serves(r *http.Request) bool { return r.URL.Path == "/api/users/count" }

func (c *UserCount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, count, err := c.store.Users(r.Context(), aigateway.Page{Limit: 1})
	if err != nil {
		http.Error(w, "the store is not available", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, count)
}

func (*UserCount) Admin() http.Handler { return http.NotFoundHandler() }

func ExampleAccounts() {
	var accounts aigateway.Accounts = new(UserCount)
	fmt.Println(accounts.Serves(httptest.NewRequest(http.MethodGet, "/api/users/count", nil)))
	fmt.Println(accounts.Serves(httptest.NewRequest(http.MethodGet, "/api/user/login", nil)))
	// Output:
	// true
	// false
}
