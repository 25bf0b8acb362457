package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/intake"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Handler turns a site into an AI gateway. It serves
//
//	POST /v1/messages, /v1/messages/count_tokens
//	POST /v1/chat/completions
//	POST /v1/completions
//	GET  /v1/models, /v1/models/{id}
//	GET  /v1/capabilities
//
// and the paths of accounts below /api/, unless they are off. It answers every
// other path under /v1/ with 404; all else goes to the site's next handler. Where
// no handler of the site answers, a path that ends like one of the above is 404
// as well, and not Caddy's empty 200.
// What the global option of the same name configures is inherited; a site adds
// to it.
//
// For use in access logs and other handlers it sets the placeholders
//
//	{http.ai_gateway.request_id}      id of the request, as in its response headers
//	{http.ai_gateway.key_id}          id of the key, never the key itself
//	{http.ai_gateway.key_owner}       whom the key belongs to
//	{http.ai_gateway.limit}           name of the limit that the key is subject to
//	{http.ai_gateway.model}           model name that the client used
//	{http.ai_gateway.provider}        provider that was asked last
//	{http.ai_gateway.upstream_model}  the provider's name for the model
//	{http.ai_gateway.losses}          fields that a translated request left behind, comma-separated
//	{http.ai_gateway.answer_losses}   parts of a translated answer that were left out, comma-separated
//	{http.ai_gateway.attempts}        number of targets that were asked
//	{http.ai_gateway.outcome}         answered, refused, failed, cut or client_closed
//	{http.ai_gateway.ttfb_ms}         time to the first byte of the answer, in milliseconds
//	{http.ai_gateway.usage.input_tokens}, .cache_read_tokens, .cache_write_tokens,
//	.output_tokens, .reasoning_tokens   as the provider reported them; empty when it did not
//
// and adds the same as the field ai_gateway to the access log.
type Handler struct {
	Config

	resolved *resolved
	users    *userbase
	logger   *zap.Logger
	drain    *drain.Drain
	ratios   *meter.Ratios
}

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.ai_gateway",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision resolves the site's configuration on top of the global option's.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger, h.drain = ctx.Logger(), drain.Process
	if err := observe.Register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	global, err := ctx.App("ai_gateway")
	if err != nil {
		return fmt.Errorf("loading global option ai_gateway: %w", err)
	}
	app := global.(*App)
	h.ratios = app.ratios
	if err := h.inherit(&app.Config); err != nil {
		return err
	}
	if err := h.setUsers(ctx, app); err != nil {
		return err
	}
	if h.resolved, err = h.Config.resolve(ctx, app.resolved); err != nil {
		return err
	}
	if err := h.resolved.limiters.checkAccounts(h.users.accounts); err != nil {
		return err
	}
	if h.users.store != nil {
		h.resolved.sources = append(h.resolved.sources, h.users.store)
	}
	h.warnForwarded(ctx, app)
	return nil
}

// setUsers shares the users of the global option, unless the site says
// something about its own.
func (h *Handler) setUsers(ctx caddy.Context, app *App) (err error) {
	h.users = app.users
	if h.ownUserbase() {
		if err := h.inheritUserbase(&app.Config); err != nil {
			return err
		}
		if h.users, err = h.loadUserbase(ctx); err != nil {
			return err
		}
	}
	app.serve(h)
	return nil
}

// inherit fills the settings that the site leaves open: from the global
// option, else with the defaults.
func (h *Handler) inherit(app *Config) error {
	if h.MaxBody == 0 {
		h.MaxBody = app.MaxBody
	}
	if h.MaxBody == 0 {
		h.MaxBody = DefaultMaxBody
	}
	inherit(&h.CommitAfter, app.CommitAfter, DefaultCommitAfter)
	inherit(&h.KeepAlive, app.KeepAlive, DefaultKeepAlive)
	if h.CORS == nil {
		h.CORS = app.CORS
	}
	h.AnswerBounds.Inherit(app.AnswerBounds)
	if h.CountersRaw != nil && app.CountersRaw != nil {
		return errors.New("counters is set in the global option ai_gateway already")
	}
	if h.CountersRaw == nil {
		h.CountersRaw = app.CountersRaw
	}
	return nil
}

func inherit(own *caddy.Duration, app caddy.Duration, standard time.Duration) {
	if *own == 0 {
		*own = app
	}
	if *own == 0 {
		*own = caddy.Duration(standard)
	}
}

// Validate refuses a gateway that could answer no one.
func (h *Handler) Validate() error {
	switch {
	case h.MaxBody < 0:
		return errors.New("max_body must be positive")
	case len(h.resolved.providers) == 0:
		return errors.New("needs at least one provider, here or in the global option ai_gateway")
	case len(h.resolved.sources) == 0:
		return errors.New("needs at least one key, here or in the global option ai_gateway, or a store: without them nobody could use it")
	}
	return h.CORS.Check()
}

// ServeHTTP answers the requests that are the gateway's. It always writes the
// answer itself: an error returned to Caddy would have it log the request's
// headers, keys included.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if e, ok := route(r); ok {
		h.answer(w, r, e)
		return nil
	}
	if accounts := h.users.accounts; accounts != nil && accounts.Serves(r) {
		h.serveAccounts(w, r)
		return nil
	}
	err := next.ServeHTTP(w, r)
	if unanswered, _ := caddyhttp.GetVar(r.Context(), unhandled).(bool); unanswered && err == nil {
		h.serveMisspelt(w, r)
	}
	return err
}

// unhandled is the variable by which Caddy's last handler, which answers an
// empty 200, reports that no other one has answered (T30).
const unhandled = "unhandled"

// serveMisspelt answers a request that the whole site has left alone, if it was
// probably meant for the gateway: clients take an empty 200 for an answer
// without a text, or for a login.
func (h *Handler) serveMisspelt(w http.ResponseWriter, r *http.Request) {
	name := meant(r.URL.Path)
	if name == "" {
		return
	}
	caddyhttp.SetVar(r.Context(), unhandled, false)
	if name == loginPath && h.users.accounts != nil {
		h.serveAccounts(w, r)
		return
	}
	h.answer(w, r, noEndpoint(r.URL.Path))
}

func (h *Handler) serveAccounts(w http.ResponseWriter, r *http.Request) {
	if r = h.CORS.Share(w, r); r != nil {
		h.users.accounts.ServeHTTP(w, r)
	}
}

// answer serves an endpoint.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, e endpoint) {
	if r = h.CORS.Share(w, r); r == nil {
		return
	}
	ex := &exchange.Exchange{
		ID:        exchange.NewID("req_"),
		Start:     time.Now(),
		Operation: e.op,
		Format:    formatOf(r, e),
		Client:    r.Header,
	}
	s := sink.New(w, ex)
	observe.Publish(r, ex)
	h.drain.Enter()
	defer h.drain.Leave()
	defer s.Close(false) // if settle panics
	defer h.settle(ex, s, r)
	if fault := h.serve(e, ex, s, r); fault != nil {
		s.Fail(fault)
	}
}

// serve runs the checks that all endpoints share, and then the endpoint.
func (h *Handler) serve(e endpoint, ex *exchange.Exchange, s *sink.Sink, r *http.Request) *fault.Fault {
	if e.method == "" {
		return e.serve(h, s, r)
	}
	if r.Method != e.method && !(e.method == http.MethodGet && r.Method == http.MethodHead) {
		s.SetHeader("Allow", e.method)
		return fault.WrongMethod(e.method)
	}
	if fault := h.authenticate(s, r, keyHeader(r, e)); fault != nil {
		return fault
	}
	return e.serve(h, s, r)
}

// serveCall answers the endpoints that a provider answers: the checks in the
// order in which the first failure is reported, then the attempts.
func (h *Handler) serveCall(s *sink.Sink, r *http.Request) *fault.Fault {
	ex := s.Exchange()
	if fault := intake.Read(ex, r, h.MaxBody); fault != nil {
		return fault
	}
	m := h.resolved.model(ex.View.Model)
	if m == nil {
		return fault.UnknownModel(ex.View.Model)
	}
	if !ex.Key.Allows(ex.View.Model) {
		return fault.ModelNotAllowed(ex.View.Model)
	}
	if fault := h.admit(m, s, r); fault != nil {
		return fault
	}
	ctx, cancel := h.drain.Bind(r.Context())
	s.Start(cancel, time.Duration(h.CommitAfter), time.Duration(h.KeepAlive))
	v := h.try(m, s, r.WithContext(ctx))
	switch {
	case v == verdict{}:
		return nil
	case ex.Operation == translate.CountTokens && m.estimates(v):
		h.estimate(m, s)
		return nil
	case v.fault != nil:
		return v.fault
	}
	return s.RelayError(&v.failed.Result)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
