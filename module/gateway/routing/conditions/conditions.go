// Package conditions selects the targets of a model by the conditions of the configuration: CEL
// expressions over placeholders of the request.
//
// The values of a request are computed when an expression reads them, once for all targets. The
// package refuses expressions with unknown placeholders of requests when they are loaded. An
// expression that fails, because a value has another type than it expects, does not hold.
package conditions

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// bare matches an expression that is only a placeholder, whose type CEL does not know.
var bare = regexp.MustCompile(`^\s*\{[^{}]*\}\s*$`)

// Load returns the condition of an expression, as Caddy's matcher "expression" evaluates it.
func Load(ctx caddy.Context, expression string) (catalog.Condition, error) {
	if bare.MatchString(expression) {
		return nil, fmt.Errorf("a condition is true or false: compare the placeholder, as in %s == true", expression)
	}
	m := &caddyhttp.MatchExpression{Expr: expression}
	if err := m.Provision(ctx); err != nil {
		return nil, err
	}
	for _, placeholder := range m.Placeholders() {
		name, ok := strings.CutPrefix(placeholder, Prefix)
		if !ok || strings.HasPrefix(name, tagPrefix) || valueOf(name) != nil {
			continue
		}
		return nil, fmt.Errorf("unknown placeholder {%s}; %sknown are: %s and %sNAME", placeholder, suggest.DidYouMean(name, names()), strings.Join(names(), ", "), tagPrefix)
	}
	return condition{m}, nil
}

// condition is an expression that decides whether a target takes a request.
type condition struct{ *caddyhttp.MatchExpression }

// String returns the expression.
func (c condition) String() string { return c.Expr }

// Holds implements catalog.Condition. Caddy logs why an expression fails.
func (c condition) Holds(r *http.Request) bool {
	holds, err := c.MatchWithError(r)
	return err == nil && holds
}

// Select returns the model with the targets that take a request, which is an exchange. The exchange has
// the targets in front of the first of them as passed over. A request that names an object is answered
// by the holder of the object. The fault refuses a request that no target takes.
func Select(m *catalog.Model, ex *exchange.Exchange, r *http.Request) (*catalog.Model, *fault.Fault) {
	if !m.HasConditions() || len(ex.Request.View.Beyond.ObjectIDs()) > 0 {
		return m, nil
	}
	r = Publish(r, ex)
	var ruledOut []*catalog.Target
	first := len(m.Targets) // that takes the request
	for i := range m.Targets {
		if t := &m.Targets[i]; !t.Takes(r) {
			ruledOut = append(ruledOut, t)
		} else {
			first = min(first, i)
		}
	}
	if first == len(m.Targets) {
		return nil, fault.NoTarget(ex.Request.View.Model)
	}
	for i := range m.Targets[:first] {
		ex.Course.PassOver(m.Targets[i].Provider.Name, m.Targets[i].UpstreamModel(ex.Request.View.Model), exchange.Unmet)
	}
	return m.Without(exchange.ByCondition, func(t *catalog.Target) bool { return slices.ContainsFunc(ruledOut, t.IsSame) }), nil
}

// Example returns a request for an exchange that has no client, so that conditions can be shown.
func Example(ex *exchange.Exchange) *http.Request {
	r := (&http.Request{Method: http.MethodPost, URL: new(url.URL), Header: ex.Request.Client}).WithContext(context.Background())
	return Publish(caddyhttp.PrepareRequest(r, caddy.NewReplacer(), nil, nil), ex)
}

// Publish gives r the values of an exchange as placeholders. It returns r, or a copy of it if r had no
// placeholders.
func Publish(r *http.Request, ex *exchange.Exchange) *http.Request {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		repl = caddy.NewReplacer()
		r = r.WithContext(context.WithValue(r.Context(), caddy.ReplacerCtxKey, repl))
	}
	repl.Map((&values{ex: ex}).get)
	return r
}
