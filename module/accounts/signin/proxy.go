package signin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Proxy signs in who has passed the authentication of the site, such as forward_auth. The
// identity of a person is in a placeholder that this authentication sets, and no client can.
type Proxy struct {
	// User is the placeholder with the identity, as forward_auth, vars or basic_auth set it:
	// {http.reverse_proxy.header.*}, {http.vars.*} or {http.auth.user.*}. Placeholders of
	// what clients send, such as {http.request.header.*}, are refused, and those of client
	// certificates, which need not be verified. Required.
	User string `json:"user"`

	// Display and Groups are placeholders of the same kinds with the display name, and with
	// the groups, which commas or "|" separate. Default: none.
	Display string `json:"display,omitempty"`
	Groups  string `json:"groups,omitempty"`

	// Name is shown on the login page, as for an Issuer. Default: proxy.
	Name string `json:"name,omitempty"`

	Rules
}

// ProxyIssuer is the issuer of the identities of a proxy.
const ProxyIssuer = "proxy"

// set matches the placeholders that only the configuration of the site sets.
var set = regexp.MustCompile(`^\{http\.(vars|reverse_proxy\.header|auth\.user)\.[^{}]+\}$`)

var errPlaceholder = errors.New("must be a placeholder that no client can set: {http.reverse_proxy.header.NAME} behind forward_auth, {http.vars.NAME} or {http.auth.user.NAME}")

var errGroups = errors.New("require accepts groups alone")

// Provision checks the configuration, and sets the defaults.
func (p *Proxy) Provision() error {
	if err := p.check(); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	p.Name = cmp.Or(p.Name, "proxy")
	return nil
}

func (p *Proxy) check() error {
	for word, placeholder := range map[string]string{"user": p.User, "display": p.Display, "groups": p.Groups} {
		if (placeholder != "" || word == "user") && !set.MatchString(placeholder) {
			return fmt.Errorf("%s %w", word, errPlaceholder)
		}
	}
	for claim := range p.Require {
		if claim != "groups" {
			return errGroups
		}
	}
	if p.Name != "" && !validName.MatchString(p.Name) {
		return nameError(p.Name)
	}
	return p.Rules.check()
}

// Subject returns the identity of the person who sends a request, "" without one.
func (p *Proxy) Subject(r *http.Request) string { return value(r, p.User) }

// Finish returns who has signed in.
func (p *Proxy) Finish(r *http.Request) (*Person, error) {
	subject := p.Subject(r)
	if subject == "" {
		return nil, fmt.Errorf("%w: the proxy names nobody", ErrRefused)
	}
	groups := slices.Collect(strings.FieldsFuncSeq(value(r, p.Groups), func(c rune) bool { return c == ',' || c == '|' }))
	list := make([]any, len(groups))
	for i, group := range groups {
		list[i] = strings.TrimSpace(group)
	}
	claims := aigateway.Claims{"name": subject, "display": cmp.Or(value(r, p.Display), subject), "groups": list}
	return p.person(ProxyIssuer, subject, claims, "name", "display", "groups")
}

// value returns the value of a placeholder, "" without one.
func value(r *http.Request, placeholder string) string {
	values, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	return values.ReplaceAll(placeholder, "")
}
