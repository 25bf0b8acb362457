package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/agents"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/console"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// SignIn configures the ways in which users sign in. All of them create the same sessions.
type SignIn struct {
	// Registration allows anyone to create an account with the smallest role. Only
	// administrators can create a user whose name is the owner of a key of the
	// configuration or of a keys file, because the usage of the key counts for that
	// name. Default: false; administrators create all accounts.
	Registration bool `json:"registration,omitempty"`

	// PasswordOff refuses logins with passwords. The commands of this machine and Caddy's
	// admin API need no login, and remain. Default: false.
	PasswordOff bool `json:"password_off,omitempty"`

	// Issuers are the issuers of OpenID Connect at which users sign in. Default: none.
	Issuers []*signin.Issuer `json:"issuers,omitempty"`

	// Proxy signs in who has passed the authentication of the site. Default: none.
	Proxy *signin.Proxy `json:"proxy,omitempty"`

	// Agents lets coding agents, and other programs that have no browser, sign in as a user
	// who confirms a code in the console. Default: none; the paths of their sign-in are 404.
	Agents *agents.Agents `json:"agents,omitempty"`
}

func (s *SignIn) provision(ctx caddy.Context, users *people.People) error {
	if s.Agents != nil {
		if err := s.Agents.Provision(users); err != nil {
			return err
		}
	}
	for _, issuer := range s.Issuers {
		if err := issuer.Provision(ctx); err != nil {
			return err
		}
	}
	if s.Proxy != nil {
		return s.Proxy.Provision()
	}
	return nil
}

var (
	errNoWay   = errors.New("password off needs oidc or proxy, since otherwise nobody could sign in")
	errNoPage  = errors.New("agents needs the console, in which users confirm codes: remove console off")
	errUseless = errors.New("registration on makes accounts with passwords, which password off refuses")
)

func (s *SignIn) validate() error {
	seen := make(map[string]bool)
	for _, name := range s.names() {
		folded := strings.ToLower(name)
		if seen[folded] {
			return fmt.Errorf("two ways to sign in have the name %s: set another name", name)
		}
		seen[folded] = true
	}
	switch {
	case s.PasswordOff && len(seen) == 0:
		return errNoWay
	case s.PasswordOff && s.Registration:
		return errUseless
	case s.Agents != nil:
		return s.Agents.Validate()
	}
	return nil
}

// names returns the names of the ways, in the order of the configuration.
func (s *SignIn) names() (names []string) {
	for _, issuer := range s.Issuers {
		names = append(names, issuer.Name)
	}
	if s.Proxy != nil {
		names = append(names, s.Proxy.Name)
	}
	return names
}

// issuer returns the issuer with a name, nil if there is none.
func (s *SignIn) issuer(name string) *signin.Issuer {
	for _, issuer := range s.Issuers {
		if issuer.Name == name {
			return issuer
		}
	}
	return nil
}

// signIns answer sign-ins without a password.
type signIns struct {
	*SignIn
	people  *people.People
	console bool // browsers go on to the console
}

// waysView are the ways to sign in, in an answer.
type waysView struct {
	Password bool      `json:"password"`
	Ways     []wayView `json:"ways"`
}

type wayView struct {
	Name string `json:"name"`
	Path string `json:"path"` // where browsers begin
}

// ways answers GET /api/v1/signin.
func (s signIns) ways(*call.Call) (any, error) {
	view := waysView{!s.PasswordOff, []wayView{}}
	for _, name := range s.names() {
		view.Ways = append(view.Ways, wayView{name, signin.Path + name})
	}
	return view, nil
}

// begin answers GET /api/v1/signin/{name}. It sends browsers to an issuer, or signs in who has
// passed the proxy. Sign-ins from a network are throttled.
func (s signIns) begin(c *call.Call) (any, error) {
	if err := s.people.CountSignIn(c); err != nil {
		return nil, err
	}
	if s.Proxy != nil && s.Proxy.Name == c.PathValue("name") {
		person, err := s.Proxy.Finish(c.Request)
		return s.end(c, person, err)
	}
	issuer := s.issuer(c.PathValue("name"))
	if issuer == nil {
		return nil, call.ErrNoPath
	}
	start, err := issuer.Begin(c.Context(), c.BaseURL())
	if err != nil {
		return s.end(c, nil, err)
	}
	c.AddTicket(issuer.Name, start.Ticket)
	return answer.Redirect(start.Address), nil
}

// finish answers GET /api/v1/signin/{name}/callback, to which the issuer sends the browser. It may
// call the issuer, so failures from a network are throttled.
func (s signIns) finish(c *call.Call) (any, error) {
	issuer := s.issuer(c.PathValue("name"))
	if issuer == nil {
		return nil, call.ErrNoPath
	}
	attempt, err := s.people.BeginSignIn(c)
	if err != nil {
		return nil, err
	}
	query := c.URL.Query()
	ticket := c.TakeTicket(issuer.Name, func(ticket string) bool { return issuer.Began(ticket, query) })
	person, err := issuer.Finish(c.Context(), c.BaseURL(), ticket, query)
	switch {
	case errors.Is(err, signin.ErrExpired), errors.Is(err, signin.ErrAnswer):
		attempt.End(throttle.Failed)
	default:
		attempt.End(throttle.Undecided)
	}
	return s.end(c, person, err)
}

// end answers the end of a sign-in: with a session, or with the reason for which there is none.
func (s signIns) end(c *call.Call, person *signin.Person, err error) (any, error) {
	var login any
	switch {
	case err == nil:
		login, err = s.enter(c, person)
	case person != nil && errors.Is(err, signin.ErrRefused):
		if failed := s.expel(c, person); failed != nil {
			err = fmt.Errorf("%w; %w", err, failed)
		}
	}
	if err == nil && s.console {
		return toConsole(c, ""), nil
	}
	if err == nil {
		return login, nil
	}
	for _, reason := range reasons {
		if errors.Is(err, reason.error) {
			s.log(c, person, err)
			s.people.RecordFailure(c, nil, "login.fail", refusal(person, err)...)
			if s.console {
				return toConsole(c, "?signin="+reason.code), nil
			}
			return nil, reason.problem()
		}
	}
	return nil, err
}

// toConsole sends a browser to the console, relative to the path of the request: what a site, or a
// proxy in front of it, has cut off the path stays there.
func toConsole(c *call.Call, query string) answer.Redirect {
	ascent := strings.Repeat("../", strings.Count(c.URL.Path, "/")-1)
	return answer.Redirect(ascent + strings.TrimPrefix(console.Root, "/") + query)
}

// log logs a refused sign-in. The subject is there for the administrator who links it.
func (s signIns) log(c *call.Call, person *signin.Person, err error) {
	fields := []zap.Field{zap.String("way", c.PathValue("name")), zap.String("network", call.Network(c.Address())), zap.Error(err)}
	if person != nil {
		fields = append(fields, zap.String("issuer", person.Issuer), zap.String("subject", person.Subject))
	}
	s.people.Logger.Info("sign-in failed", fields...)
}

// refusal returns what the audit log has of a refused sign-in: the reason, and the person if the
// issuer has named one.
func refusal(person *signin.Person, err error) (changes []aigateway.AuditChange) {
	if person != nil {
		changes = []aigateway.AuditChange{{Field: "issuer", After: person.Issuer}, {Field: "subject", After: person.Subject}}
	}
	return append(changes, aigateway.AuditChange{Field: "reason", After: err.Error()})
}

var (
	errUnknownPerson = errors.New("no account is linked with this identity: ask an administrator")
	errPersonName    = errors.New("an account with your name cannot be created: ask an administrator to link one")
	errPersonOut     = errors.New("the account is disabled")
	errNoIdentities  = errors.New("the store keeps no identities")
)

// reason is a reason for which a sign-in fails.
type reason struct {
	error
	code   string // for the console
	status int
}

var reasons = []reason{
	{signin.ErrExpired, "expired", http.StatusBadRequest},
	{signin.ErrRefused, "refused", http.StatusForbidden},
	{signin.ErrAway, "away", http.StatusServiceUnavailable},
	{signin.ErrAnswer, "invalid", http.StatusBadGateway},
	{errUnknownPerson, "unknown", http.StatusForbidden},
	{errPersonName, "name", http.StatusConflict},
	{errPersonOut, "disabled", http.StatusForbidden},
	{aigateway.ErrLastRoot, "root", http.StatusConflict},
}

// awayFor is the time after which a client may try an issuer again.
const awayFor = 5 * time.Second

func (r reason) problem() *answer.Problem {
	p := answer.Refuse(r.status, "%s", r.Error())
	if r.status == http.StatusServiceUnavailable {
		p.Retry = awayFor
	}
	return p
}

// enter creates a session for a person.
func (s signIns) enter(c *call.Call, person *signin.Person) (any, error) {
	c.ActAsIssuer(c.PathValue("name"))
	user, err := s.user(c.Context(), person)
	if err != nil {
		return nil, err
	}
	c.ActAs(user, 0)
	prefix := call.TokenPrefix
	if person.Issuer == signin.ProxyIssuer {
		prefix = call.ProxyPrefix
	}
	login, err := s.people.Open(c, user, prefix)
	switch {
	case errors.Is(err, people.ErrWrong): // the user was changed meanwhile
		return nil, errPersonOut
	case err != nil:
		return nil, err
	}
	return viewLogin(login), nil
}

// expel ends the sessions of a person who is refused, and takes back what groups gave the user. A
// person without an account, or with a disabled one, has nothing to lose.
func (s signIns) expel(c *call.Call, person *signin.Person) error {
	c.ActAsIssuer(c.PathValue("name"))
	user, err := s.user(c.Context(), person)
	switch {
	case errors.Is(err, errUnknownPerson), errors.Is(err, errPersonOut):
		return nil
	case err != nil:
		return err
	}
	return s.people.Store.DeleteSessionsOf(c.Context(), user.ID, 0)
}

// user returns the user that a person is. It never finds a user by a name or an address.
func (s signIns) user(ctx context.Context, person *signin.Person) (*aigateway.User, error) {
	store, ok := s.people.Store.(aigateway.IdentityStore)
	if !ok {
		return nil, errNoIdentities
	}
	identity := aigateway.Identity{Issuer: person.Issuer, Subject: person.Subject, Groups: person.Groups}
	if person.Joins {
		identity.MaxTeams = people.MaxTeams
	}
	user, err := store.SignIn(ctx, identity, func() (*aigateway.User, error) { return s.newcomer(person) }, func(u *aigateway.User) error {
		if u.Disabled {
			return errPersonOut
		}
		if person.Role != 0 {
			u.Role = person.Role
		}
		return nil
	})
	if errors.Is(err, aigateway.ErrTaken) {
		err = fmt.Errorf("%w: the name %s is taken", errPersonName, person.Name)
	}
	return user, err
}

// newcomer returns the account of a person who has none.
func (s signIns) newcomer(person *signin.Person) (*aigateway.User, error) {
	if !person.Creates {
		return nil, errUnknownPerson
	}
	if person.Unnamed != nil {
		return nil, fmt.Errorf("%w: %w", errPersonName, person.Unnamed)
	}
	name, err := people.NewName(person.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %.64q is not valid: %w", errPersonName, person.Name, err)
	case s.people.Reserved != nil && s.people.Reserved(name):
		return nil, fmt.Errorf("%w: the name %s is reserved for the owner of a key", errPersonName, name)
	}
	return &aigateway.User{Name: name, DisplayName: cmp.Or(person.DisplayName, name), Role: aigateway.RoleUser}, nil
}
