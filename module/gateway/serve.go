package gateway

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/capture"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// ServeHTTP answers requests for the gateway's paths, and hands all others to the next
// handler. It returns no error for its own paths: Caddy would log the headers of the
// request with the error, keys included.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return h.handler.take(w, r, next)
}

// take is ServeHTTP of a running configuration.
func (h *handler) take(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if h.serveProbe(w, r) || h.resolved.servers.ServeResource(w, r) {
		return nil
	}
	route, ok := h.passes.route(r)
	if !ok {
		route, ok = h.resolved.servers.Route(r)
	}
	if !ok {
		route = routes.Find(r, h.backends)
		if o := route.Object; o != nil && o.IsOptional() && !h.resolved.catalog.Seals(route.Format, o) {
			route = routes.FindUnserved(r, h.backends)
		}
	}
	hideKey(r, &route)
	if route.Kind == routes.Elsewhere {
		err := next.ServeHTTP(w, r)
		if unanswered, _ := caddyhttp.GetVar(r.Context(), unhandled).(bool); !unanswered || err != nil {
			return err
		}
		if route = routes.FindUnanswered(r, h.backends); route.Kind == routes.Elsewhere {
			route = h.resolved.servers.RouteUnanswered(r)
		}
		if route.Kind == routes.Elsewhere {
			return nil
		}
		hideKey(r, &route)
		caddyhttp.SetVar(r.Context(), unhandled, false)
	}
	switch route.Kind {
	case routes.Front:
		serveFront(w, r, h.backends.Accounts != nil)
	case routes.Accounts:
		if r = h.config.CORS.Share(w, r); r != nil {
			h.backends.Accounts.ServeHTTP(w, aigateway.WithPublicURL(r, h.config.PublicURL))
		}
	case routes.Socket:
		h.resolved.sockets.serve(h, w, r, &route)
	default:
		h.answer(w, r, &route)
	}
	return nil
}

// unhandled is a variable of Caddy. Its last handler, which answers an empty 200, sets
// the variable to true if no other handler has answered (T30).
const unhandled = "unhandled"

// hideKey leaves a request with a key in its query out of the access log of the site, which
// contains the whole address.
func hideKey(r *http.Request, route *routes.Route) {
	if route.HasQueryKey {
		caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	}
}

// serveFront answers a request for the first page of a site that has none, so that who has just
// installed the gateway learns where to go.
func serveFront(w http.ResponseWriter, r *http.Request, accounts bool) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	prefix := aigateway.PathPrefix(r)
	console, documentation := "", "https://github.com/caddy-ai-gateway/caddy-ai-gateway"
	if accounts {
		console = "Console              " + prefix + routes.ConsolePath + "\n"
		documentation = prefix + routes.ConsolePath + "docs/"
	}
	_, _ = fmt.Fprintf(w, `The AI gateway is running.

%sBase URL, Anthropic  the address of this page, without the slash at its end
Base URL, OpenAI     the same and /v1
All paths            %s/api/openapi.json
Documentation        %s

Clients need a key.
`, console, prefix, documentation) // the client may have left
}

// answer serves a route of the gateway.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, route *routes.Route) {
	if r = h.config.CORS.Share(w, r); r == nil {
		return
	}
	ex := newExchange(r, route)
	w = sink.Copying(w, r)
	if captured := capture.Process.Begin(r, ex.ID); captured != nil {
		ex.Capture, w = captured, captured.Answer(w)
	}
	answer := reply.New(w, ex)
	observe.Publish(r, ex)
	switch route.Kind {
	case routes.Call, routes.Message, routes.Object, routes.Pass, routes.MCP: // nothing else is counted as an exchange
		observe.Begin(ex)
	}
	h.drain.Enter()
	defer h.drain.Leave()
	defer answer.Close(false) // for the case that settle panics
	defer h.settle(ex, answer, r)
	refused := h.serve(route, answer, r)
	// A check may have failed since the client has left. What is wrong with a request has its answer: the client
	// may have closed only its side of the connection.
	if refused == nil || refused.Status() >= http.StatusInternalServerError && answer.Abandon(r.Context()) {
		return
	}
	answer.Fail(refused)
}

// newExchange returns the exchange of a request.
func newExchange(r *http.Request, route *routes.Route) *exchange.Exchange {
	ex := &exchange.Exchange{
		ID:      exchange.NewID("req_"),
		Start:   time.Now(),
		Request: exchange.Request{Operation: route.Operation, Format: route.Format, Client: r.Header, InMessage: route.Kind == routes.Message},
	}
	ex.Request.View.Model, ex.Request.View.Stream = route.Model, route.Stream
	return ex
}

// serve checks the key of a request, and then serves what it asks for. Some faults of a route
// are sent without that check.
func (h *handler) serve(route *routes.Route, answer *reply.Reply, r *http.Request) *fault.Fault {
	if !route.Keyless {
		if fault := h.authenticate(answer, r, route.KeyFormat); fault != nil {
			if challenge := h.resolved.servers.Challenge(r); challenge != "" && fault.Status() == http.StatusUnauthorized {
				answer.SetHeaders("Www-Authenticate", challenge)
			}
			return fault
		}
	}
	if route.Kind == routes.Secret && h.resolved.sockets != nil {
		return serveSecret(h, answer, r, route)
	}
	if route.Fault != nil {
		if route.Allow != "" {
			answer.SetHeaders("Allow", route.Allow)
		}
		return route.Fault
	}
	switch route.Kind {
	case routes.Models:
		return h.serveModels(answer, r)
	case routes.Model:
		return h.serveModel(answer, r)
	case routes.Capabilities:
		return h.serveCapabilities(answer, r)
	case routes.Billing:
		return h.serveBilling(answer, r)
	case routes.Cache:
		return clearAnswers(h, answer, r)
	case routes.Object:
		return h.serveObject(answer, r, route)
	case routes.Pass:
		return h.passes.serve(h, answer, r)
	case routes.MCP:
		return h.resolved.servers.Serve(answer, r)
	}
	return h.serveCall(answer, r)
}

// serveCall answers a request that needs a provider. After all checks it makes the
// attempts. The client gets the fault of the first check that fails.
func (h *handler) serveCall(answer *reply.Reply, r *http.Request) *fault.Fault {
	ex := answer.Exchange
	leave, refused := enter(h, answer, r)
	if leave == nil {
		return refused
	}
	defer leave()
	if fault := request.Read(ex, r, h.config.MaxBody); fault != nil {
		return fault
	}
	if ex.Capture != nil {
		ex.Capture.Request(ex.Request.Body)
	}
	view := &ex.Request.View
	m := h.resolved.catalog.Model(view.Model)
	switch {
	case m == nil:
		return fault.UnknownModel(view.Model)
	case !ex.Key.Allows(view.Model):
		return fault.ModelNotAllowed(view.Model)
	case view.Beyond.OtherModels != "" && len(ex.Key.Bound()) > 0:
		return fault.OtherModels(view.Beyond.OtherModels)
	}
	ex.Covering = string(m.Pattern)
	if refused := h.config.Names.Apply(ex); refused != nil {
		return refused
	}
	if refused := nameFiles(ex, r, m); refused != nil {
		return refused
	}
	if m, refused = conditions.Select(m, ex, r); refused != nil {
		return refused
	}
	if m, refused = h.admit(answer, r, m); refused != nil {
		return refused
	}
	checks := h.resolved.guards.For(ex, h.logger)
	if refused := checkRequest(h, ex, checks, r, m); refused != nil {
		return refused
	}
	h.mirrors.Send(m.Mirror, ex)
	return h.callProviders(m, answer, r, checks)
}

// checkRequest shows the request of an exchange to its guards, whose edits then are its body.
func checkRequest(h *handler, ex *exchange.Exchange, checks *guardrails.Checks, r *http.Request, m *catalog.Model) *fault.Fault {
	if checks == nil {
		if ex.Request.InMessage {
			exchange.MessageFrom(r.Context()).NoteGuards(nil)
		}
		return nil
	}
	state := ex.Request.View.Beyond.State
	if ex.Request.InMessage && state != "" {
		state = uncheckedState(ex, exchange.MessageFrom(r.Context()), h.providers.Seals())
	}
	body, refused := checks.Request(r.Context(), state)
	if body == nil {
		return refused
	}
	if refused = request.Replace(ex, r, body); refused == nil {
		refused = nameFiles(ex, r, m)
	}
	return refused
}

// uncheckedState returns the path of the first field that refers to what the provider stores, "" for none, but for
// sealed responses of the WebSocket of the request: their guards have checked them there, as those that the provider
// keeps for the socket alone.
func uncheckedState(ex *exchange.Exchange, socket *exchange.Message, seals *seal.Ring) string {
	reach := ex.Request.View.Beyond
	account, ids := seal.AccountOf(socket.Provider, socket.APIKey), seals.IDs(ex.Owner())
	socket.Forget(&reach, func(id *translate.ObjectID) bool {
		owner, raw, ok := ids.Open(id.Kind, ex.Request.IDText(id))
		return ok && owner == account && socket.Began(raw)
	})
	return reach.State
}

// callProviders makes the attempts of an exchange. If none of them has answered, it
// returns the fault for the client, or answers with an estimate of tokens.
func (h *handler) callProviders(m *catalog.Model, answer *reply.Reply, r *http.Request, checks *guardrails.Checks) *fault.Fault {
	switch v := h.providers.Ask(m, answer, r, checks); {
	case v == failover.Verdict{}:
		return nil
	case answer.Exchange.Request.Operation == translate.CountTokens && mayEstimate(m, v, answer.Exchange):
		return h.estimate(m, answer)
	case v.Failed != nil:
		answer.RelayError(&v.Failed.Result)
		return nil
	default:
		return v.Fault
	}
}
