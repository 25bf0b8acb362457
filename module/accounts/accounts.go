// Package accounts implements the module ai_gateway.accounts: the HTTP API with which
// users log in and manage their accounts and API keys, and the API for the
// administrator of the machine.
//
// It promises that the store contains only hashes of passwords, and digests of session
// tokens and keys; that a changed role and a disabled account take effect with the next
// request; that every answer has the same envelope and a correct status; and that
// guesses of passwords are throttled without revealing which names exist. A password, a
// token or a key occurs in no log line, error or answer, except in the one answer that
// returns it to its owner.
//
// Package call reads its requests, package answer writes its answers, and package reports serves
// what is recorded; here are the routes, and the changes of users, sessions, keys and teams.
//
// It refuses to be an identity provider: there is no mail and no second factor. The services
// of package signin can provide these.
package accounts

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/reports"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/console"
)

func init() {
	caddy.RegisterModule(Accounts{})
}

// Accounts serves accounts, sessions and keys below /api/, and the console below /console/.
type Accounts struct {
	// Session is how long a login is valid, at least one minute. Default: 168h,
	// which is 7 days.
	Session caddy.Duration `json:"session,omitempty"`

	// LoginStatus selects the status of failed logins. With "strict", it is 401
	// for wrong credentials, and 400 for a request without credentials or with an
	// invalid body. With "compat", both have status 200 and "success":false, as in
	// older services, for clients that treat any other status as an outage. Other
	// refusals have the same status with both. Default: strict.
	LoginStatus string `json:"login_status,omitempty"`

	// KeyLimit is the name of the limit of the keys that users create, unless they
	// are administrators. Every site with these accounts must define the limit. All
	// keys of a user share it. Existing keys do not change. Default: none.
	KeyLimit string `json:"key_limit,omitempty"`

	// ThrottleOff disables the throttles of failed logins and of registrations.
	// Anyone may then guess passwords as fast as the machine can hash them. Use it
	// only on machines that are protected in another way. Default: false.
	ThrottleOff bool `json:"throttle_off,omitempty"`

	Console
	Audit
	SignIn

	store  aigateway.Store
	sites  sites
	shared *shared
	hashing
	logger *zap.Logger
}

// hashing is how passwords are hashed.
type hashing struct {
	queue  *queue // of the process; tests replace it
	hasher hasher
}

// Console configures the console, the page with which users and operators use the API.
type Console struct {
	// ConsoleOff leaves the paths below /console/ to the site. Default: false.
	ConsoleOff bool `json:"console_off,omitempty"`

	// CaptureOff refuses captures. With captures, a session can read both sides of the
	// wire of its own requests for some minutes. Default: false.
	CaptureOff bool `json:"capture_off,omitempty"`
}

// sites is what the accounts know of the sites that use them. It is empty for the commands
// of this machine.
type sites struct {
	reserved func(username string) bool // nil if no name is reserved
	limits   aigateway.LimitReader
	views    map[string]aigateway.View
	ended    <-chan struct{} // is closed when the configuration of the sites ends
	since    string          // when it was provisioned, for configuredHeader
}

// The values of LoginStatus.
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

// Provision sets the defaults.
func (a *Accounts) Provision(ctx caddy.Context) error {
	a.logger, a.sites.ended = ctx.Logger(), ctx.Done()
	a.sites.since = time.Now().UTC().Format(time.RFC3339Nano)
	if a.Session == 0 {
		a.Session = caddy.Duration(7 * 24 * time.Hour)
	}
	if a.LoginStatus == "" {
		a.LoginStatus = strict
	}
	a.queue, a.hasher = processQueue, owaspParameters
	return a.SignIn.provision(ctx)
}

// Validate checks the settings.
func (a *Accounts) Validate() error {
	if a.Session < caddy.Duration(time.Minute) {
		return errors.New("session must be at least one minute")
	}
	if a.AuditKeep != 0 && a.AuditKeep < caddy.Duration(24*time.Hour) {
		return errors.New("audit_keep must be at least one day")
	}
	if a.LoginStatus != strict && a.LoginStatus != compat {
		return errors.New("login_status must be strict or compat")
	}
	return a.SignIn.validate()
}

// LimitOfKeys implements aigateway.Accounts.
func (a *Accounts) LimitOfKeys() string { return a.KeyLimit }

// UseStore implements aigateway.Accounts. All configurations of this process count the
// failed logins of a store together.
func (a *Accounts) UseStore(store aigateway.Store) {
	a.store = store
	a.shared = acquireShared(store)
}

// ReserveNames implements aigateway.Accounts.
func (a *Accounts) ReserveNames(reserved func(username string) bool) { a.sites.reserved = reserved }

// UseLimits implements aigateway.LimitAccounts.
func (a *Accounts) UseLimits(limits aigateway.LimitReader) { a.sites.limits = limits }

// UseViews implements aigateway.ViewAccounts.
func (a *Accounts) UseViews(views map[string]aigateway.View) { a.sites.views = views }

// Cleanup releases the state that configurations share.
func (a *Accounts) Cleanup() error {
	if a.shared == nil {
		return nil
	}
	return releaseShared(a.store)
}

// Serves implements aigateway.Accounts. It accepts every path of accounts, with any
// method, and with or without a route, and the paths of the console.
func (a *Accounts) Serves(r *http.Request) bool {
	return aigateway.OwnsPath(r.URL.Path, isOwnPath) || a.showsConsole(r)
}

// showsConsole reports whether the path of a request is one of the console.
func (a *Accounts) showsConsole(r *http.Request) bool {
	return !a.ConsoleOff && console.Serves(r.URL.Path)
}

// ServeHTTP implements http.Handler. Except for documents and the console, its answers are
// envelopes.
func (a *Accounts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.showsConsole(r) {
		console.ServeHTTP(w, r)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff") // as in every answer of the gateway
	w.Header().Set(configuredHeader, a.sites.since)
	var data any
	found, pathValue, err := findPublic(r.URL)
	if err == nil {
		c := call.New(w, r, a.store, a.Proxy)
		c.ActAs(nil, 0)
		data, err = a.answer(c, found, pathValue)
	}
	if r.URL.Path == loginPath {
		err = a.loginError(err)
	}
	if err != nil {
		answer.WriteProblem(w, r, answer.ProblemOf(a.logger, err))
		return
	}
	answer.WriteEnvelope(w, data)
}

// configuredHeader has the time since which the running configuration is in use. A page that gets
// another one than before shows what an earlier configuration was.
const configuredHeader = "X-Gateway-Configured"

// Admin implements aigateway.Accounts. The handler answers with JSON without an
// envelope, with a document, or with {"error":"..."} and the status of the failure.
func (a *Accounts) Admin() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var data any
		found, pathValue, err := admin.find(r.URL.Path)
		if err == nil {
			c := call.New(w, r, a.store, a.Proxy)
			c.ActAsMachine()
			data, err = a.answer(c, found, pathValue)
		}
		if err != nil {
			answer.WriteBareProblem(w, answer.ProblemOf(a.logger, err))
			return
		}
		answer.WriteBare(w, data)
	})
}

// answer reads the body of a request, checks the credential, and calls the endpoint of the
// method. It reads the body first, because a client may send it slowly, and may lose its
// rights in the meantime. It bounds the number of concurrent changes of each user: a store
// makes one change at a time, and refuses changes if too many wait.
func (a *Accounts) answer(c *call.Call, found methods, pathValue string) (any, error) {
	e, ok := found.of(c.Method)
	if !ok {
		c.AnswerHeader.Set("Allow", found.allowed())
		return nil, answer.Refuse(http.StatusMethodNotAllowed, "this path accepts %s", found.allowed())
	}
	c.PathValue, c.Access = pathValue, e.access
	var formErr error // returned after admit, so that strangers get 401 instead
	if e.body {
		c.Form, formErr = c.ReadForm()
	}
	if err := c.Admit(); err != nil {
		return nil, err
	}
	if formErr != nil {
		return nil, formErr
	}
	if c.User != nil && c.Method != http.MethodGet && c.Method != http.MethodHead {
		who := c.Principal().Account
		if !a.shared.changes.Acquire(who) {
			return nil, answer.ErrTooManyChanges
		}
		defer a.shared.changes.Release(who)
		if err := a.guard().countChange(c.User); err != nil {
			return nil, err
		}
	}
	return e.serve(a, c)
}

// loginError returns the error of a failed login with the status that LoginStatus
// selects. A request with an invalid body is a failed login, too.
func (a *Accounts) loginError(err error) error {
	var p *answer.Problem
	if a.LoginStatus == compat && errors.As(err, &p) &&
		(p.Status == http.StatusUnauthorized || p.Status == http.StatusBadRequest) {
		return answer.Refuse(http.StatusOK, "%s", p.Message)
	}
	return err
}

// The parts of the accounts, each with its endpoints.

func (a *Accounts) passwords() passwords { return passwords{a.queue, a.hasher, a.logger} }

func (a *Accounts) guard() guard {
	return guard{a.store, a.passwords(), a.shared, a.ThrottleOff, a.logger}
}

func (a *Accounts) users() users { return users{a.store, a.passwords()} }

func (a *Accounts) keys() keys { return keys{a.store, a.sites.limits, a.KeyLimit} }

func (a *Accounts) logins() logins {
	return logins{a.users(), a.guard(), a.store, time.Duration(a.Session), a.PasswordOff}
}

func (a *Accounts) signIns() signIns {
	return signIns{a.SignIn, a.logins(), a.sites.reserved, !a.ConsoleOff}
}

func (a *Accounts) identities() identities { return identities{a.SignIn, a.logins(), a.users()} }

func (a *Accounts) ownAccount() ownAccount {
	return ownAccount{a.users(), a.guard(), a.Registration, a.sites.reserved}
}

func (a *Accounts) machine() machine { return machine{a.users(), a.keys()} }

func (a *Accounts) teams() teams { return teams{a.store.Teams(), a.users(), a.sites.limits} }

func (a *Accounts) captures() reports.Captures { return reports.Captures{Off: a.CaptureOff} }

func (a *Accounts) reports() reports.Reports {
	return reports.Reports{
		Store: a.store, Limits: a.sites.limits, Failed: func(err error) { _ = answer.ProblemOf(a.logger, err) },
		Ended: a.sites.ended, Streams: a.shared.streams,
	}
}

// Interface guards
var (
	_ caddy.Provisioner  = (*Accounts)(nil)
	_ caddy.Validator    = (*Accounts)(nil)
	_ caddy.CleanerUpper = (*Accounts)(nil)
	_ aigateway.Accounts = (*Accounts)(nil)

	_ aigateway.LimitAccounts = (*Accounts)(nil)
	_ aigateway.ViewAccounts  = (*Accounts)(nil)
	_ aigateway.AuditAccounts = (*Accounts)(nil)
)

// Audit configures the audit log of the store.
type Audit struct {
	// AuditKeep is how long rows are kept, at least one day. Default: 9600h, which is 400
	// days.
	AuditKeep caddy.Duration `json:"audit_keep,omitempty"`

	// AuditTry makes a change although its row cannot be written. Default: false; the
	// change is refused.
	AuditTry bool `json:"audit_try,omitempty"`
}

// AuditOptions implements aigateway.AuditAccounts.
func (a *Accounts) AuditOptions() aigateway.AuditOptions {
	return aigateway.AuditOptions{Keep: time.Duration(a.AuditKeep), Lenient: a.AuditTry}
}
