package gateway

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets/clientsecret"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// conversation is a WebSocket of the Realtime API, or of a Live API. Each response of the provider is an
// exchange, also one that no message of the client has asked for. What it may use is reserved before: while
// the socket is open, the limits of the key always hold a reservation for the next response.
type conversation struct {
	socket  *openSocket
	partner partner
	relay   sockets.Relay

	mu      sync.Mutex // guards the fields below
	ended   bool
	next    *turn            // reserved for the next response; nil if there is none
	running map[string]*turn // by the ids of responses
	rested  chan struct{}    // closed while no response runs
	tokens  int64            // of the conversation, estimated since its last response
	clock   clock            // of a conversation that costs by time
	others  others           // the models that work beside that of the conversation
	refusal *fault.Fault     // ends the conversation when no response runs; nil to go on
}

// partner is with whom a conversation is.
type partner struct {
	dialect *realtime.Dialect
	target  catalog.Target // that was dialed
	apiKey  int            // index in the API keys of the provider
	account *seal.Account  // that was dialed, or has what the first message refers to; nil for any
	model   string         // as the client names it
}

// The bounds of the first message of a client, where it names the model.
const (
	maxFirst     = 1 << 20
	maxFirstWait = 10 * time.Second
)

// serveRealtime answers a request for a WebSocket of the Realtime API or a Live API.
func (s *socketRoute) serveRealtime(o *openSocket, w http.ResponseWriter) {
	dialect := o.route.Format.Client.DialectOf(o.route.Operation)
	o.request = clientsecret.With(o.handler.providers.Seals(), dialect, withProtocolKey(o.request))
	c := &conversation{socket: o, running: make(map[string]*turn), rested: make(chan struct{})}
	c.partner.dialect, c.relay.Socket.Lifetime = dialect, dialect.Lifetime
	if s := clientsecret.Of(o.request); s != nil && s.Ends > 0 {
		c.relay.Socket.Lifetime = min(dialect.Lifetime, max(1, time.Until(time.Unix(s.Ends, 0))))
	}
	close(c.rested)
	if offersRealtime(o.request) {
		c.relay.Socket.Protocol = realtime.Protocol
	}
	c.relay.FromClient, c.relay.FromProvider, c.relay.Rested = c.fromClient, c.fromProvider, c.restedNow
	if !dialect.ModelFirst {
		o.admit, o.dial = c.admit, c.partner.dial
	}
	if !s.begin(o, w, &c.relay.Socket, c.relay.Open) {
		c.end()
		return
	}
	c.relay.Socket.Allowed = func() bool {
		c.lastByClock(time.Now())
		return c.socket.allowed()
	}
	go o.run(func() {
		defer c.end()
		if !dialect.ModelFirst || c.start() {
			c.configure()
			c.relay.Run()
		}
	})
}

// start opens the WebSocket of the provider when the first message of the client is there. The socket of
// the client is closed if that fails.
func (c *conversation) start() bool {
	var refused *fault.Fault
	err := c.relay.First(maxFirstWait, maxFirst, func(message []byte, binary bool) {
		if refused = c.answerFirst(message, binary); refused != nil {
			c.relay.End(c.endOf(refused))
		}
	})
	return err == nil && refused == nil
}

// answerFirst admits a conversation by its first message, and sends it to the provider.
func (c *conversation) answerFirst(message []byte, binary bool) *fault.Fault {
	h := c.socket.current()
	request, err := c.partner.dialect.Read(message)
	if s := clientsecret.Of(c.socket.request); s != nil && err == nil && request.First {
		message = s.First(message)
		request, err = c.partner.dialect.Read(message)
	}
	switch {
	case err != nil:
		return fault.NotRealtimeEvent()
	case !request.First || request.Model.End == 0:
		return fault.NotFirstMessage()
	}
	c.partner.model = strings.TrimPrefix(textAt(message, request.Model), c.partner.dialect.ModelPrefix)
	ex := newExchange(c.socket.request, c.socket.route)
	refused := h.authenticate(reply.New(unwritten{}, ex), c.socket.request, c.socket.route.KeyFormat)
	if refused != nil {
		return refused
	}
	opened, refused := c.openNamed(message, &request)
	if refused == nil {
		refused = c.choose(h, ex)
	}
	if refused == nil {
		refused = c.check(message, &request)
	}
	if refused != nil {
		return refused
	}
	c.note(len(message), &request)
	if c.next, refused = c.reserve(h); refused != nil {
		return refused
	}
	ctx, cancel := h.drain.Bind(c.socket.request.Context(), 0)
	defer cancel()
	if c.socket.provider, c.relay.Socket.Provider, refused = c.partner.dial(ctx, h, ex); refused != nil {
		return refused
	}
	model := c.partner.dialect.ModelPrefix + strings.TrimPrefix(c.partner.target.UpstreamModel(c.partner.model), c.partner.dialect.ModelPrefix)
	passed := rewritten(message, append(opened, replacement{request.Model, model})...)
	if err := c.relay.Socket.Provider.Forward(ctx, passed, binary); err != nil {
		c.relay.Socket.Provider.Close(exchange.SocketClosed{})
		return fault.BrokenOff("closed", "")
	}
	return nil
}

// offersRealtime reports whether the client offers the subprotocol of the API.
func offersRealtime(r *http.Request) bool {
	return slices.Contains(protocolsOf(r), realtime.Protocol)
}

// protocolsOf returns the subprotocols that a client offers.
func protocolsOf(r *http.Request) (all []string) {
	for _, line := range r.Header["Sec-Websocket-Protocol"] {
		for name := range strings.SplitSeq(line, ",") {
			all = append(all, strings.TrimSpace(name))
		}
	}
	return all
}

// withProtocolKey returns a request with the key that is among the subprotocols of r in Authorization,
// unless that has one.
func withProtocolKey(r *http.Request) *http.Request {
	var others []string
	var key string
	for _, name := range protocolsOf(r) {
		if rest, ok := strings.CutPrefix(name, realtime.KeyProtocol); ok {
			key = cmp.Or(key, rest)
		} else {
			others = append(others, name)
		}
	}
	if key == "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Set("Sec-WebSocket-Protocol", strings.Join(others, ", "))
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return r
}

// configure sends the configuration of a client secret to the provider.
func (c *conversation) configure() {
	if s := clientsecret.Of(c.socket.request); s != nil && !c.partner.dialect.ModelFirst {
		if passed := c.fromClient(s.Setup(c.partner.dialect)); passed != nil {
			_ = c.relay.Socket.Provider.Forward(c.socket.request.Context(), passed, false)
		}
	}
}

// admit checks what the query asks for, and reserves the first response.
func (c *conversation) admit(h *handler, answer *reply.Reply) *fault.Fault {
	query, err := url.ParseQuery(c.socket.request.URL.RawQuery)
	if s := clientsecret.Of(c.socket.request); s != nil && len(query["model"]) == 0 {
		query["model"] = []string{s.Model()}
	} else if s != nil && query.Get("model") != s.Model() {
		return fault.OtherSessionModel(s.Model())
	}
	for _, parameter := range slices.Sorted(maps.Keys(query)) {
		if parameter != "model" {
			return fault.RealtimeQuery(observe.Clip(parameter))
		}
	}
	if c.partner.model = query.Get("model"); err != nil || c.partner.model == "" || len(query["model"]) > 1 {
		return fault.RealtimeQuery("model")
	}
	refused := c.choose(h, answer.Exchange)
	if refused == nil {
		c.next, refused = c.reserve(h)
	}
	return refused
}

// choose finds the target of the model.
func (c *conversation) choose(h *handler, ex *exchange.Exchange) *fault.Fault {
	m := h.resolved.catalog.Model(c.partner.model)
	switch {
	case m == nil:
		return fault.UnknownModel(c.partner.model)
	case !ex.Key.Allows(c.partner.model):
		return fault.ModelNotAllowed(c.partner.model)
	}
	m, refused := conditions.Select(m, ex, c.socket.request)
	if refused != nil {
		return refused
	}
	leads := func(t catalog.Target) bool {
		return h.resolved.sockets.leadTo(t.Provider) && slices.Contains(t.Provider.Formats, c.socket.route.Format)
	}
	i := slices.IndexFunc(m.Targets, leads)
	if i < 0 {
		return fault.NoRealtime()
	}
	c.partner.target = m.Targets[i]
	if c.partner.account == nil {
		return nil
	}
	holder, _ := h.resolved.catalog.Holder(*c.partner.account)
	i = slices.IndexFunc(m.Targets, func(t catalog.Target) bool { return leads(t) && t.Provider == holder })
	if i < 0 {
		return fault.AccountApart()
	}
	c.partner.target = m.Targets[i]
	return nil
}

// dial opens a WebSocket to the target.
func (p *partner) dial(ctx context.Context, h *handler, ex *exchange.Exchange) (provider *catalog.Provider, socket *exchange.Socket, refused *fault.Fault) {
	provider, refused = p.target.Provider, fault.AccountApart()
	for p.apiKey = range provider.APIKeys {
		account := seal.AccountOf(provider.Name, p.apiKey)
		if p.account != nil && *p.account != account {
			continue
		}
		socket, refused = provider.Caller.(exchange.Dialer).Dial(ctx, p.attempt(ex))
		if refused == nil {
			p.account = &account
		}
		if refused == nil || ctx.Err() != nil {
			return provider, socket, refused
		}
		h.logger.Warn("a provider has refused a WebSocket", zap.String("request_id", ex.ID), zap.String("provider", provider.Name), zap.String("fault", refused.LogMessage()), zap.NamedError("cause", refused.Cause))
	}
	if refused.Kind == fault.UpgradeRefused {
		refused = fault.NoRealtime()
	}
	return provider, nil, refused
}

// attempt returns the attempt of an exchange at the target.
func (p *partner) attempt(ex *exchange.Exchange) *exchange.Attempt {
	return &exchange.Attempt{
		Exchange: ex, Provider: p.target.Provider.Name, Service: p.target.Provider.Preset, Format: ex.Request.Format,
		Model: p.target.UpstreamModel(p.model), APIKey: p.apiKey, Traits: p.target.TraitsOf(p.model),
	}
}
