package gateway

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/capture"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// ServeHTTP answers requests for the gateway's paths, and hands all others to the next
// handler. It returns no error for its own paths: Caddy would log the headers of the
// request with the error, keys included.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if h.serveProbe(w, r) {
		return nil
	}
	if billing := h.backends.Billing; billing != nil && r.URL.RawPath == "" && billing.Serves(r.URL.Path) {
		h.answer(w, r, endpoint{method: http.MethodGet, serve: (*Handler).serveBilling})
		return nil
	}
	if e, ok := route(r); ok {
		h.answer(w, r, e)
		return nil
	}
	if accounts := h.backends.Accounts; accounts != nil && accounts.Serves(r) {
		h.serveAccounts(w, r)
		return nil
	}
	if isBelow(r.URL.Path, "/upload") { // clients of the Gemini API upload files there
		hideKey(r)
	}
	err := next.ServeHTTP(w, r)
	if unanswered, _ := caddyhttp.GetVar(r.Context(), unhandled).(bool); unanswered && err == nil {
		h.serveUnanswered(w, r)
	}
	return err
}

// unhandled is a variable of Caddy. Its last handler, which answers an empty 200, sets
// the variable to true if no other handler has answered (T30).
const unhandled = "unhandled"

// serveUnanswered answers a request that no handler of the site has answered, if clients
// would misunderstand an empty 200: one that was probably meant for the gateway, as an
// answer without a text or as a login; CONNECT, as a tunnel that is open.
func (h *Handler) serveUnanswered(w http.ResponseWriter, r *http.Request) {
	name, _ := meant(r.URL.Path)
	tunnel := r.Method == http.MethodConnect
	if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		serveFront(w, r, h.backends.Accounts != nil)
		return
	}
	if name == "" && !tunnel && unserved(r.URL.Path) == "" {
		return
	}
	caddyhttp.SetVar(r.Context(), unhandled, false)
	switch {
	case tunnel:
		h.answer(w, r, noTunnel)
	case name == loginPath && h.backends.Accounts != nil:
		h.serveAccounts(w, r)
	default:
		h.answer(w, r, noEndpoint(r.URL.Path))
	}
}

// serveFront answers a request for the first page of a site that has none, so that who has just
// installed the gateway learns where to go.
func serveFront(w http.ResponseWriter, r *http.Request, accounts bool) {
	caddyhttp.SetVar(r.Context(), unhandled, false)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	prefix := aigateway.PathPrefix(r)
	console := ""
	if accounts {
		console = "Console              " + prefix + consolePath + "\n"
	}
	_, _ = fmt.Fprintf(w, `The AI gateway is running.

%sBase URL, Anthropic  the address of this page, without the slash at its end
Base URL, OpenAI     the same and /v1
All paths            %s/api/openapi.json

Clients need a key. Documentation: https://github.com/caddy-ai-gateway/caddy-ai-gateway
`, console, prefix) // the client may have left
}

// serveAccounts hands a request to the accounts.
func (h *Handler) serveAccounts(w http.ResponseWriter, r *http.Request) {
	if r = h.CORS.Share(w, r); r != nil {
		h.backends.Accounts.ServeHTTP(w, r)
	}
}

// answer serves an endpoint.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, e endpoint) {
	hideKey(r)
	if r = h.CORS.Share(w, r); r == nil {
		return
	}
	ex := &exchange.Exchange{
		ID:      exchange.NewID("req_"),
		Start:   time.Now(),
		Request: exchange.Request{Operation: e.op, Format: formatOf(r, e), Client: r.Header},
	}
	ex.View.Model, ex.View.Stream = e.model, e.stream
	ex.Capture = capture.Process.Begin(r, ex.ID)
	to := reply.New(ex.Capture.Answer(sink.Copying(w, r)), ex)
	observe.Publish(r, ex)
	if e.format != nil && !e.list { // lists of models are not counted as exchanges
		observe.Begin(ex)
	}
	h.drain.Enter()
	defer h.drain.Leave()
	defer to.Close(false) // for the case that settle panics
	defer h.settle(ex, to, r)
	if fault := h.serve(e, to, r); fault != nil {
		to.Fail(fault)
	}
}

// serve checks the method and the key of a request, and then calls the endpoint. An
// endpoint without a method does without these checks.
func (h *Handler) serve(e endpoint, to *reply.Reply, r *http.Request) *fault.Fault {
	if e.method == "" {
		return e.serve(h, to, r)
	}
	if r.Method != e.method && !(e.method == http.MethodGet && r.Method == http.MethodHead) {
		to.SetHeaders("Allow", e.allowed())
		return fault.WrongMethod(e.method)
	}
	if fault := h.authenticate(to, r, keyFormat(r, e)); fault != nil {
		return fault
	}
	if fault := e.checkQuery(r); fault != nil {
		return fault
	}
	return e.serve(h, to, r)
}

// serveCall answers a request that needs a provider. After all checks it makes the
// attempts. The client gets the fault of the first check that fails.
func (h *Handler) serveCall(to *reply.Reply, r *http.Request) *fault.Fault {
	ex := to.Exchange
	if h.MaxRunning > 0 && h.drain.Running() > h.MaxRunning {
		return fault.GatewayBusy()
	}
	if fault := request.Read(ex, r, h.MaxBody); fault != nil {
		return fault
	}
	ex.Capture.Request(ex.Body)
	m := h.resolved.catalog.Model(ex.View.Model)
	switch {
	case m == nil:
		return fault.UnknownModel(ex.View.Model)
	case !ex.Key.Allows(ex.View.Model):
		return fault.ModelNotAllowed(ex.View.Model)
	case ex.View.Beyond.OtherModels != "" && len(ex.Key.Bound()) > 0:
		return fault.OtherModels(ex.View.Beyond.OtherModels)
	}
	ex.Covering = string(m.Pattern)
	if refused := h.Names.Apply(ex); refused != nil {
		return refused
	}
	if refused := h.admit(to, r, m); refused != nil {
		return refused
	}
	checks := h.resolved.guards.For(ex, h.logger)
	if refused := checkRequest(checks, r); refused != nil {
		return refused
	}
	return h.callProviders(m, to, r, checks)
}

// checkRequest shows the request of an exchange to its guards, whose edits then are its body.
func checkRequest(checks *guardrails.Checks, r *http.Request) *fault.Fault {
	if checks == nil {
		return nil
	}
	body, refused := checks.Request(r.Context())
	if body == nil {
		return refused
	}
	return request.Replace(checks.Exchange, body)
}

// callProviders makes the attempts of an exchange. If none of them has answered, it
// returns the fault for the client, or answers with an estimate of tokens.
func (h *Handler) callProviders(m *catalog.Model, to *reply.Reply, r *http.Request, checks *guardrails.Checks) *fault.Fault {
	switch v := h.providers.Ask(m, to, r, checks); {
	case v == failover.Verdict{}:
		return nil
	case to.Exchange.Operation == translate.CountTokens && mayEstimate(m, v):
		return h.estimate(m, to)
	case v.Failed != nil:
		to.RelayError(&v.Failed.Result)
		return nil
	default:
		return v.Fault
	}
}
