// Package accounts implements the module ai_gateway.accounts: the HTTP API with which
// users log in and manage their accounts and API keys, and the API for the
// administrator of the machine.
//
// It promises that a resource has one form, for users, for the console, and for the administrator of
// the machine; that a changed role and a disabled account take effect with the next request; and
// that a password, a token or a key occurs in no log line, error or answer, except in the one answer
// that returns it to its owner.
//
// Package call reads its requests, package answer writes its answers, package people has the rules
// of changes, and package reports serves what is recorded; here are the routes, and the resources
// users, sessions, keys and teams. Package compat, which a build can leave out, serves what the
// clients of other gateways know.
//
// It refuses to be an identity provider: there is no mail and no second factor. The services
// of package signin can provide these.
package accounts

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/console"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/reports"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(Accounts{})
}

// Accounts serves users, sessions, keys and teams below /api/v1/, and the console below /console/.
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

	// ConsoleOff leaves the paths below /console/, with the page for users and operators, to
	// the site. Default: false.
	ConsoleOff bool `json:"console_off,omitempty"`

	// CaptureOff refuses captures. With captures, a session can read both sides of the
	// wire of its own requests for some minutes. Default: false.
	CaptureOff bool `json:"capture_off,omitempty"`

	// AuditKeep is how long rows of the audit log are kept, at least one day. Default:
	// 9600h, which is 400 days.
	AuditKeep caddy.Duration `json:"audit_keep,omitempty"`

	// AuditTry makes a change although its row of the audit log cannot be written.
	// Default: false; the change is refused.
	AuditTry bool `json:"audit_try,omitempty"`

	SignIn

	people *people.People
	sites  sites
	router *call.Router
}

// guest serves the paths of another product, in envelopes.
type guest interface {
	Routes(*people.People) []call.Route
}

// guestModule is the ID of the module with the guest.
const guestModule = "ai_gateway.accounts.compat"

// sites is what the accounts know of the sites that use them. It is empty for the commands
// of this machine.
type sites struct {
	state       aigateway.State
	ended       <-chan struct{} // is closed when the configuration of the sites ends
	provisioned string          // when it was provisioned, for configuredHeader
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

// Provision sets the defaults, and loads the guest.
func (a *Accounts) Provision(ctx caddy.Context) error {
	a.sites.ended = ctx.Done()
	a.sites.provisioned = time.Now().UTC().Format(time.RFC3339Nano)
	if a.Session == 0 {
		a.Session = caddy.Duration(7 * 24 * time.Hour)
	}
	if a.LoginStatus == "" {
		a.LoginStatus = strict
	}
	a.people = people.New(people.Settings{
		Session: time.Duration(a.Session), KeyLimit: a.KeyLimit,
		Registration: a.Registration, PasswordOff: a.PasswordOff,
	}, people.Throttles{Disabled: a.ThrottleOff, Logger: ctx.Logger()})
	var others []call.Route // of other gateways
	if _, err := caddy.GetModule(guestModule); err == nil {
		mod, err := ctx.LoadModuleByID(guestModule, nil)
		if err != nil {
			return fmt.Errorf("loading the paths of other gateways: %w", err)
		}
		others = foreign(mod.(guest), a.people)
	}
	if err := a.SignIn.provision(ctx, a.people); err != nil {
		return err
	}
	a.router = call.NewRouter(append(a.routes(), others...), a.serve)
	return nil
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
	if a.Agents != nil && a.ConsoleOff {
		return errNoPage
	}
	return a.SignIn.validate()
}

// LimitOfKeys implements aigateway.Accounts.
func (a *Accounts) LimitOfKeys() string { return a.KeyLimit }

// UseStore implements aigateway.Accounts.
func (a *Accounts) UseStore(store aigateway.Store) { a.people.UseStore(store) }

// ReserveNames implements aigateway.Accounts.
func (a *Accounts) ReserveNames(reserved func(username string) bool) { a.people.Reserved = reserved }

// UseLimits implements aigateway.LimitAccounts.
func (a *Accounts) UseLimits(limits aigateway.LimitReader) { a.people.Limits = limits }

// UseState implements aigateway.StateAccounts.
func (a *Accounts) UseState(state aigateway.State) {
	a.sites.state = state
	if a.Agents != nil {
		a.Agents.UsePrices(state.ModelPrices)
	}
}

// Cleanup releases the state that configurations share.
func (a *Accounts) Cleanup() error {
	if a.people == nil {
		return nil
	}
	return a.people.Release()
}

// showsConsole reports whether the path of a request is one of the console.
func (a *Accounts) showsConsole(r *http.Request) bool {
	return !a.ConsoleOff && console.Serves(r.URL.Path)
}

// configuredHeader has the time since which the running configuration is in use. A page that gets
// another one than before shows what an earlier configuration was.
const configuredHeader = "X-Gateway-Configured"

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

func (a *Accounts) reports() reports.Reports {
	r := reports.Reports{
		Store: a.people.Store, Limits: a.people.Limits, Failed: func(err error) { _ = answer.ProblemOf(a.people.Logger, err) },
		Ended: a.sites.ended, Streams: a.people.Streams(),
	}
	if a.sites.state != nil {
		r.Discount = a.sites.state.CacheDiscount
	}
	return r
}

// Interface guards
var (
	_ caddy.Provisioner  = (*Accounts)(nil)
	_ caddy.Validator    = (*Accounts)(nil)
	_ caddy.CleanerUpper = (*Accounts)(nil)
	_ aigateway.Accounts = (*Accounts)(nil)

	_ aigateway.LimitAccounts = (*Accounts)(nil)
	_ aigateway.StateAccounts = (*Accounts)(nil)
	_ aigateway.AuditAccounts = (*Accounts)(nil)
)

// AuditOptions implements aigateway.AuditAccounts.
func (a *Accounts) AuditOptions() aigateway.AuditOptions {
	return aigateway.AuditOptions{Keep: time.Duration(a.AuditKeep), Lenient: a.AuditTry}
}
