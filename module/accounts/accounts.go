// Package accounts is the HTTP surface with which people log in and manage
// their accounts and API keys, and the one for the administrator of the machine.
//
// It promises that a password is hashed before it is kept, that of sessions and
// keys only a digest is, that roles and bans count from the next request on,
// that every answer is the same envelope with a true status, and that guesses
// are slowed down without telling which names exist. No log line, error or
// answer holds a password, a token or a key, but for the one answer that hands
// it out. It refuses to be an identity provider: no mail, no second factor, no
// foreign login; what Caddy has for those stands in front of it.
package accounts

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(Accounts{})
}

// Accounts serves accounts, sessions and keys below /api/.
type Accounts struct {
	// Session is how long a login lasts. Default: 168h, which is 7 days. At
	// least one minute.
	Session caddy.Duration `json:"session,omitempty"`

	// LoginStatus is "strict" or "compat". Strict, the default, answers a
	// failed login with a true status: 401 for wrong credentials, 400 for a
	// request without them or with a body that is no JSON. Compat answers these
	// with 200 and "success":false, as older services do, for clients that take
	// any other status for an outage. What is refused for other reasons has its
	// true status with both.
	LoginStatus string `json:"login_status,omitempty"`

	// Registration lets anyone create an account with the smallest role.
	// Default: off, accounts are created by administrators.
	Registration bool `json:"registration,omitempty"`

	// KeyLimit is the name of the limit of the keys that users make who are no
	// administrators. Every site with these accounts must have a limit of that
	// name. All keys of a user share what it allows. Keys that were made before
	// stay as they are. Default: none.
	KeyLimit string `json:"key_limit,omitempty"`

	// ThrottleOff switches the throttle of failed logins and of registrations
	// off. Anyone may then guess passwords as quickly as the machine can hash
	// them; it is for machines that something else protects.
	ThrottleOff bool `json:"throttle_off,omitempty"`

	store  aigateway.Store
	shared *shared
	queue  *queue
	hasher hasher
	logger *zap.Logger
}

// The words of login_status.
const (
	strict = "strict"
	compat = "compat"
)

// CaddyModule returns the Caddy module information.
func (Accounts) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.accounts",
		New: func() caddy.Module { return new(Accounts) },
	}
}

// Provision fills in the defaults.
func (a *Accounts) Provision(ctx caddy.Context) error {
	a.logger = ctx.Logger()
	if a.Session == 0 {
		a.Session = caddy.Duration(7 * 24 * time.Hour)
	}
	if a.LoginStatus == "" {
		a.LoginStatus = strict
	}
	a.queue, a.hasher = hashes, owasp
	return nil
}

// Validate refuses settings that cannot be meant.
func (a *Accounts) Validate() error {
	if a.Session < caddy.Duration(time.Minute) {
		return errors.New("session must be at least one minute")
	}
	if a.LoginStatus != strict && a.LoginStatus != compat {
		return errors.New("login_status must be strict or compat")
	}
	return nil
}

// LimitOfKeys is the name of the limit of keys that users make.
func (a *Accounts) LimitOfKeys() string { return a.KeyLimit }

// UseStore tells where accounts are kept. Failed logins of the same store are
// counted together, by all configurations of this process.
func (a *Accounts) UseStore(store aigateway.Store) {
	a.store = store
	a.shared = acquire(store)
}

// Cleanup gives back what configurations share.
func (a *Accounts) Cleanup() error {
	if a.shared == nil {
		return nil
	}
	return release(a.store)
}

// Serves reports whether a request is for a path that belongs to accounts, with
// whatever method and whether or not there is a route.
func (a *Accounts) Serves(r *http.Request) bool { return aigateway.OwnsPath(r.URL.Path, isOurs) }

// ServeHTTP answers a request that it serves, in the envelope.
func (a *Accounts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff") // as every answer of the gateway
	c := newCall(w, r)
	data, err := a.answer(c)
	if err != nil {
		writeProblem(w, a.problemOf(err))
		return
	}
	if text, ok := data.(document); ok {
		text.write(w)
		return
	}
	writeData(w, data)
}

// answer answers what has a route.
func (a *Accounts) answer(c *call) (any, error) {
	if !hasRoute(c.URL) {
		return nil, noRoute(c.URL)
	}
	data, err := a.handle(c, public)
	if c.URL.Path == loginPath {
		err = a.compatible(err)
	}
	return data, err
}

// Admin answers the administrator of the machine below /ai_gateway/: plain JSON,
// and {"error":"..."} with the status of the failure.
func (a *Accounts) Admin() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := newCall(w, r)
		data, err := a.handle(c, admin)
		if err != nil {
			writeAdminProblem(w, a.problemOf(err))
			return
		}
		writeJSON(w, http.StatusOK, data)
	})
}

// Interface guards
var (
	_ caddy.Provisioner  = (*Accounts)(nil)
	_ caddy.Validator    = (*Accounts)(nil)
	_ caddy.CleanerUpper = (*Accounts)(nil)
	_ aigateway.Accounts = (*Accounts)(nil)
)
