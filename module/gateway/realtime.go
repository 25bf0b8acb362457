package gateway

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// conversation is a WebSocket of the Realtime API. Each response of the provider is an exchange, also one
// that no message of the client has asked for. What it may use is reserved before: while the socket is
// open, the limits of the key always hold a reservation for the next response.
type conversation struct {
	*openSocket
	relay  sockets.Relay
	target catalog.Target // that was dialed
	apiKey int            // index in the API keys of the provider
	model  string         // as the client names it

	mu          sync.Mutex // guards the fields below
	ended       bool
	next        *turn            // reserved for the next response; nil if there is none
	running     map[string]*turn // by the ids of responses
	rested      chan struct{}    // closed while no response runs
	tokens      int64            // of the conversation, estimated since its last response
	transcriber string           // the model of transcripts; "" for none
}

// serveRealtime answers a request for a WebSocket of the Realtime API.
func (s *socketRoute) serveRealtime(o *openSocket, w http.ResponseWriter) {
	o.request = withProtocolKey(o.request)
	c := &conversation{openSocket: o, running: make(map[string]*turn), rested: make(chan struct{})}
	close(c.rested)
	if offersRealtime(o.request) {
		c.relay.Protocol = realtime.Protocol
	}
	c.relay.FromClient, c.relay.FromProvider, c.relay.Rested = c.fromClient, c.fromProvider, c.restedNow
	o.admit, o.dial = c.admit, c.dial
	if !s.begin(o, w, &c.relay.Socket, c.relay.Open) {
		c.end()
		return
	}
	go o.run(func() {
		defer c.end()
		c.relay.Run()
	})
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

// admit checks what the query asks for, and reserves the first response.
func (c *conversation) admit(h *Handler, answer *reply.Reply) *fault.Fault {
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if c.model = query.Get("model"); err != nil || c.model == "" || len(query) > 1 || len(query["model"]) > 1 {
		return fault.RealtimeQuery()
	}
	m := h.resolved.catalog.Model(c.model)
	switch {
	case m == nil:
		return fault.UnknownModel(c.model)
	case !answer.Exchange.Key.Allows(c.model):
		return fault.ModelNotAllowed(c.model)
	}
	m, refused := conditions.Select(m, answer.Exchange, c.request)
	if refused != nil {
		return refused
	}
	i := slices.IndexFunc(m.Targets, func(t catalog.Target) bool { return h.resolved.sockets.leadTo(t.Provider) })
	if i < 0 {
		return fault.NoRealtime()
	}
	c.target = m.Targets[i]
	c.next, refused = c.reserve(h)
	return refused
}

// dial opens a WebSocket to the target of the conversation.
func (c *conversation) dial(ctx context.Context, h *Handler, ex *exchange.Exchange) (p *catalog.Provider, socket *exchange.Socket, refused *fault.Fault) {
	p = c.target.Provider
	for c.apiKey = range p.APIKeys {
		if socket, refused = p.Caller.(exchange.Dialer).Dial(ctx, c.attempt(ex)); refused == nil || ctx.Err() != nil {
			return p, socket, refused
		}
		h.logger.Warn("a provider has refused a WebSocket", zap.String("request_id", ex.ID), zap.String("provider", p.Name), zap.String("fault", refused.LogMessage()), zap.NamedError("cause", refused.Cause))
	}
	if refused.Kind == fault.UpgradeRefused {
		refused = fault.NoRealtime()
	}
	return p, nil, refused
}

// attempt returns the attempt of an exchange at the target of the conversation.
func (c *conversation) attempt(ex *exchange.Exchange) *exchange.Attempt {
	return &exchange.Attempt{
		Exchange: ex, Provider: c.target.Provider.Name, Service: c.target.Provider.Preset, Format: ex.Format,
		Model: c.target.UpstreamModel(c.model), APIKey: c.apiKey, Traits: c.target.TraitsOf(c.model),
	}
}

// fromClient returns what the provider gets of a message of the client. A refused one is answered.
func (c *conversation) fromClient(message []byte) []byte {
	request, err := realtime.Read(message)
	if err != nil {
		c.refuse(fault.NotRealtimeEvent())
		return nil
	}
	c.note(int64(len(message)-request.Audio), int64(request.Audio))
	if refused := c.refuseTranscriber(request.Transcriber); refused != nil {
		c.refuse(refused)
		return nil
	}
	if request.Model.End == 0 {
		return message
	}
	if jsonscan.TextOf(message[request.Model.Start:request.Model.End]) != c.model {
		c.refuse(fault.OtherSessionModel(c.model))
		return nil
	}
	passed := jsonscan.AppendString(slices.Clone(message[:request.Model.Start]), c.target.UpstreamModel(c.model))
	return append(passed, message[request.Model.End:]...)
}

// refuseTranscriber refuses a model of transcripts that the key may not use.
func (c *conversation) refuseTranscriber(model string) *fault.Fault {
	if model == "" {
		return nil
	}
	h := c.current()
	chain := h.resolved.limits.For(c.key, model)
	switch {
	case len(c.key.Bound()) > 0 && !c.key.Allows(model):
		return fault.ModelNotAllowed(model)
	case chain != nil && chain.NeedsPrices() && h.resolved.catalog.Price(model, c.target.Provider.Name, model, time.Now()) == nil:
		return fault.PriceUnknown(model, c.target.Provider.Name+"/"+model)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.transcriber = model
	return nil
}

// refuse answers a message of the client, which the provider does not get.
func (c *conversation) refuse(refused *fault.Fault) { c.relay.Reply(c.errorEvent(refused)) }

// errorEvent returns the message of a fault.
func (c *conversation) errorEvent(refused *fault.Fault) []byte {
	id := exchange.NewID("event_")
	reason := jsonscan.MemberOf(c.route.Format.Errors.Append(nil, refused, id), "error")
	event := jsonscan.AppendString([]byte(`{"type":"error","event_id":`), id)
	return append(append(append(event, `,"error":`...), reason...), '}')
}

// fromProvider accounts for a message of the provider. It returns the last message of the conversation if
// the limits of the key do not let it go on.
func (c *conversation) fromProvider(message []byte) (last []byte) {
	event := realtime.ReadEvent(message)
	var refused *fault.Fault
	switch event.Kind {
	case realtime.Created:
		refused = c.created(event.Response)
	case realtime.Done:
		refused = c.done(&event)
	case realtime.Transcribed:
		c.transcribed(&event)
	}
	if refused != nil {
		return c.errorEvent(refused)
	}
	return nil
}
