package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits/deferred"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/mirror"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/sealkeys"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// Handler turns a site into an AI gateway. It serves
//
//	POST /v1/messages, /v1/messages/count_tokens
//	POST /v1/chat/completions
//	POST /v1/completions
//	POST /v1/responses, /v1/responses/input_tokens
//	GET, DELETE /v1/responses/{id}, POST /v1/responses/{id}/cancel, GET /v1/responses/{id}/input_items
//	GET, POST, DELETE /v1/chat/completions/{id}, GET /v1/chat/completions/{id}/messages
//	POST /v1/conversations, GET, POST, DELETE /v1/conversations/{id}
//	GET, POST /v1/conversations/{id}/items, GET, DELETE /v1/conversations/{id}/items/{item_id}
//	POST /v1beta/models/{model}:generateContent, :streamGenerateContent, :countTokens
//	GET  /v1/models, /v1/models/{id}, /v1beta/models, /v1beta/models/{model}
//	GET  /v1/capabilities
//	GET  /livez, /readyz
//
// and, unless they are off, the paths of accounts below /api/. With a ledger, it also
// serves the usage of a key at /api/usage/token and at dashboard/billing/subscription and
// dashboard/billing/usage, with and without /v1. It answers 404 to every other path below
// /v1/ and /v1beta/. All other requests go to the next handler of the site. If no handler of the site
// answers one, and its path ends like one of the above, the answer is 404 instead of
// Caddy's empty 200.
//
// A site inherits the configuration of the global option of the same name, and adds
// to it.
//
// For access logs and other handlers, it sets the placeholders
//
//	{http.ai_gateway.request_id}      id of the request, as in its response headers
//	{http.ai_gateway.key_id}          id of the key, never the key itself
//	{http.ai_gateway.key_owner}       owner of the key
//	{http.ai_gateway.limit}           name of the limit that the key is subject to
//	{http.ai_gateway.model}           model name that the client used
//	{http.ai_gateway.provider}        provider that was asked last
//	{http.ai_gateway.upstream_model}  the provider's name for the model
//	{http.ai_gateway.choice}          why that provider was asked, such as "cost"; empty for the first of the configuration
//	{http.ai_gateway.answered_by}     model that the provider names in its answer
//	{http.ai_gateway.losses}          fields that the translation of the request left out, comma-separated
//	{http.ai_gateway.answer_losses}   parts that the translation of the answer left out, comma-separated
//	{http.ai_gateway.attempts}        number of targets that were asked
//	{http.ai_gateway.outcome}         answered, refused, failed, cut or client_closed
//	{http.ai_gateway.ttfb_ms}         time to the first byte of the answer, in milliseconds
//	{http.ai_gateway.usage.input_tokens}, .cache_read_tokens, .cache_write_tokens,
//	.output_tokens, .reasoning_tokens   as the provider reported them; empty if it did not
//
// and adds the same values to the access log, as the field ai_gateway.
type Handler struct {
	Config
	handler *handler // that Provision makes
}

// handler is what serves a site in a running configuration.
type handler struct {
	config *Config

	resolved  *resolved
	backends  *backends.Set
	server    *caddyhttp.Server // nil outside of servers
	logger    *zap.Logger
	exchanges *zap.Logger // one record for each exchange
	drain     *drain.Drain
	providers failover.Site
	passes    passRoutes // nil for nearly all sites
	settler   *deferred.Settler
	mirrors   *mirror.Sender
	answers   exchange.CachedAnswers // nil unless a model has a cache
}

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.ai_gateway",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision loads the configuration of the site, on top of the one that it inherits.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.handler = &handler{config: &h.Config, logger: ctx.Logger()}
	return h.handler.provision(ctx)
}

// provision loads the configuration of the site. The store of the backends is the last source of keys.
func (h *handler) provision(ctx caddy.Context) (err error) {
	global, err := ctx.App("ai_gateway")
	if err != nil {
		return fmt.Errorf("loading global option ai_gateway: %w", err) // with its own place
	}
	h.config.dropStale()
	defer func() { err = h.config.placed(h.logger, err) }()
	app := global.(*App).app
	h.drain = drain.Process
	h.exchanges = h.logger.Named("exchanges")
	h.server, _ = ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if err := metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	if err := h.config.inherit(app.config); err != nil {
		return err
	}
	seals, err := sealkeys.Load(ctx, h.config.SealKeys)
	if err != nil {
		return err
	}
	h.providers = failover.Site{
		Logger: h.logger, Drain: h.drain, Affinity: h.config.Affinity, Ratios: app.ratios, Seals: seals, Measure: h.measure,
		AdmitCall: callAdmission(h), Queued: queuedOf(h),
		Deadline: time.Duration(h.config.Deadline), DisableRetry: h.config.DisableRetry,
		Answers: sink.Options{
			CommitAfter: time.Duration(h.config.CommitAfter), KeepAlive: time.Duration(h.config.KeepAlive),
			ShowTarget: h.config.TargetHeader,
		},
	}
	if h.backends, err = app.backendsOf(ctx, &h.config.Options); err != nil {
		return err
	}
	app.serve(h)
	if h.resolved, err = h.config.resolve(ctx, app.resolved, h.backends.Store != nil); err != nil {
		return err
	}
	if h.backends.Store != nil {
		h.resolved.sources = append(h.resolved.sources, h.backends.Store)
		h.resolved.limits.CountUsers(h.backends.Store)
	}
	if err := h.resolved.limits.Attach(h.backends.Book, h.logger); err != nil {
		return err
	}
	if err := h.resolved.limits.CheckAccounts(h.backends.Accounts); err != nil {
		return err
	}
	if h.resolved.catalog.CachesAnswers() {
		if h.answers, err = cache.Load(ctx, h.config.Cache, seals); err != nil {
			return err
		}
	}
	h.providers.Cached = h.answers
	if h.passes, err = newPassRoutes(h.config.Pass, h.resolved.catalog); err != nil {
		return err
	}
	if h.resolved.servers, err = newMCPServers(ctx, h); err != nil {
		return err
	}
	if h.resolved.sockets, err = newSocketRoute(ctx, h.config.Sockets, h.resolved.catalog); err != nil {
		return err
	}
	h.settler = deferred.New(deferred.Settler{
		Book: h.backends.Book, Catalog: h.resolved.catalog, Limits: h.resolved.limits, Keys: h.resolved.sources, Seals: seals, Logger: h.logger,
	})
	h.mirrors = mirror.New(h.providers, h.backends.Book, h.resolved.catalog, h.resolved.limits.Calls)
	h.warnForwarded(app)
	return h.takeStrayProbes(ctx)
}

// Validate returns an error for a value out of its bounds, and for a configuration in
// which no request could succeed.
func (h *Handler) Validate() (err error) {
	defer func() { err = h.placed(h.handler.logger, err) }()
	switch {
	case h.MaxBody < 0:
		return errors.New("max_body must be positive")
	case h.MaxBatch < 0:
		return errors.New("max_batch must be positive")
	case h.MaxUpload < 0:
		return errors.New("max_upload must be positive")
	case h.Deadline < 0:
		return errors.New("deadline must be positive")
	case h.PublicURL != "" && !aigateway.IsProtectedAddress(h.PublicURL):
		return errors.New("public_url must be an https address")
	case h.MaxRunning < 0:
		return errors.New("max_running must be at least 1")
	case len(h.handler.resolved.catalog.Providers) == 0:
		return errors.New("needs at least one provider, here or in the global option ai_gateway")
	case len(h.handler.resolved.sources) == 0:
		return errors.New("needs at least one key, here or in the global option ai_gateway, or a store: without them nobody could use it")
	}
	if err := h.Affinity.Check(); err != nil {
		return fmt.Errorf("affinity: %w", err)
	}
	if err := h.Names.Check(); err != nil {
		return err
	}
	if err := h.Queue.Check(h.MaxRunning); err != nil {
		return err
	}
	return h.CORS.Check()
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
