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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// conversation is a WebSocket of the Realtime API, or of a Live API. Each response of the provider is an
// exchange, also one that no message of the client has asked for. What it may use is reserved before: while
// the socket is open, the limits of the key always hold a reservation for the next response.
type conversation struct {
	*openSocket
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
	o.request = withSecret(o.handler, dialect, withProtocolKey(o.request))
	c := &conversation{openSocket: o, running: make(map[string]*turn), rested: make(chan struct{})}
	c.partner.dialect, c.relay.Lifetime = dialect, dialect.Lifetime
	if s := secretOf(o.request); s != nil && s.Ends > 0 {
		c.relay.Lifetime = min(dialect.Lifetime, max(1, time.Until(time.Unix(s.Ends, 0))))
	}
	close(c.rested)
	if offersRealtime(o.request) {
		c.relay.Protocol = realtime.Protocol
	}
	c.relay.FromClient, c.relay.FromProvider, c.relay.Rested = c.fromClient, c.fromProvider, c.restedNow
	if !dialect.ModelFirst {
		o.admit, o.dial = c.admit, c.dial
	}
	if !s.begin(o, w, &c.relay.Socket, c.relay.Open) {
		c.end()
		return
	}
	c.relay.Allowed = func() bool {
		c.lastByClock(time.Now())
		return c.allowed()
	}
	go o.run(func() {
		defer c.end()
		if !dialect.ModelFirst || c.start() {
			configure(c)
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
	h := c.current()
	request, err := c.partner.dialect.Read(message)
	if s := secretOf(c.request); s != nil && err == nil && request.First {
		message = s.setup(message)
		request, err = c.partner.dialect.Read(message)
	}
	switch {
	case err != nil:
		return fault.NotRealtimeEvent()
	case !request.First || request.Model.End == 0:
		return fault.NotFirstMessage()
	}
	c.partner.model = strings.TrimPrefix(textAt(message, request.Model), c.partner.dialect.ModelPrefix)
	ex := newExchange(c.request, c.route)
	refused := h.authenticate(reply.New(unwritten{}, ex), c.request, c.route.KeyFormat)
	if refused != nil {
		return refused
	}
	opened, refused := openNamed(c, message, &request)
	if refused == nil {
		refused = c.choose(h, ex)
	}
	if refused == nil {
		refused = c.refuseOthers(message, &request)
	}
	if refused != nil {
		return refused
	}
	c.note(len(message), &request)
	if c.next, refused = c.reserve(h); refused != nil {
		return refused
	}
	ctx, cancel := h.drain.Bind(c.request.Context(), 0)
	defer cancel()
	if c.provider, c.relay.Provider, refused = c.dial(ctx, h, ex); refused != nil {
		return refused
	}
	model := c.partner.dialect.ModelPrefix + strings.TrimPrefix(c.partner.target.UpstreamModel(c.partner.model), c.partner.dialect.ModelPrefix)
	passed := rewritten(message, append(opened, replacement{request.Model, model})...)
	if err := c.relay.Provider.Forward(ctx, passed, binary); err != nil {
		c.relay.Provider.Close(exchange.SocketClosed{})
		return fault.BrokenOff("closed", "")
	}
	return nil
}

// replacement is a text in place of a string of a message.
type replacement struct {
	slot jsonscan.Slot
	text string
}

// rewritten returns a message with replacements.
func rewritten(message []byte, all ...replacement) []byte {
	slices.SortFunc(all, func(a, b replacement) int { return a.slot.Start - b.slot.Start })
	var edits []edit.Edit
	for _, r := range all {
		edits = append(edits, edit.Edit{Span: translate.Span{Start: r.slot.Start, End: r.slot.End}, With: jsonscan.AppendString(nil, r.text)})
	}
	return edit.Apply(nil, message, edits)
}

// textAt returns the text of a string of a message.
func textAt(message []byte, slot jsonscan.Slot) string {
	return jsonscan.TextOf(message[slot.Start:slot.End])
}

// openNamed opens the handle of the session that the client resumes, and the files to which a message refers: the
// provider would take those of any client. They are sealed for their owner, and must be in the account of the
// conversation, which the first of them sets as long as none is dialed.
func openNamed(c *conversation, message []byte, request *realtime.Request) (opened []replacement, refused *fault.Fault) {
	ids := c.ids()
	if sealed := textAt(message, request.Handle); sealed != "" {
		account, raw, ok := ids.Open(seal.SessionHandle, []byte(sealed))
		if !ok {
			return nil, fault.UnknownSession()
		}
		c.partner.account = &account
		opened = append(opened, replacement{request.Handle, string(raw)})
	}
	for _, slot := range request.Files {
		sealed := seal.NameIn(seal.GeminiFileID, textAt(message, slot))
		account, raw, ok := ids.Open(seal.GeminiFileID, []byte(sealed))
		switch {
		case !ok:
			return nil, fault.NoObject("fileUri", seal.GeminiFileID, observe.Clip(sealed))
		case c.partner.account == nil:
			c.partner.account = &account
		case *c.partner.account != account:
			return nil, fault.ObjectApart("fileUri", seal.GeminiFileID)
		}
		opened = append(opened, replacement{slot, string(raw)})
	}
	return opened, nil
}

// sealHandle returns a message of the provider with the handle of its session sealed.
func (c *conversation) sealHandle(message []byte, slot jsonscan.Slot) []byte {
	sealed := c.ids().Append(nil, seal.SessionHandle, *c.partner.account, []byte(textAt(message, slot)))
	return rewritten(message, replacement{slot, string(sealed)})
}

// ids seals and opens what belongs to the owner of the conversation.
func (c *conversation) ids() *seal.IDs {
	owner := exchange.Exchange{Key: c.key}
	return c.current().providers.Seals().IDs(owner.Owner())
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
func configure(c *conversation) {
	if s := secretOf(c.request); s != nil && !c.partner.dialect.ModelFirst {
		if passed := c.fromClient(realtime.Update(s.Session)); passed != nil {
			_ = c.relay.Provider.Forward(c.request.Context(), passed, false)
		}
	}
}

// admit checks what the query asks for, and reserves the first response.
func (c *conversation) admit(h *Handler, answer *reply.Reply) *fault.Fault {
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if s := secretOf(c.request); s != nil && len(query["model"]) == 0 {
		query["model"] = []string{s.model()}
	} else if s != nil && query.Get("model") != s.model() {
		return fault.OtherSessionModel(s.model())
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
func (c *conversation) choose(h *Handler, ex *exchange.Exchange) *fault.Fault {
	m := h.resolved.catalog.Model(c.partner.model)
	switch {
	case m == nil:
		return fault.UnknownModel(c.partner.model)
	case !ex.Key.Allows(c.partner.model):
		return fault.ModelNotAllowed(c.partner.model)
	}
	m, refused := conditions.Select(m, ex, c.request)
	if refused != nil {
		return refused
	}
	leads := func(t catalog.Target) bool {
		return h.resolved.sockets.leadTo(t.Provider) && slices.Contains(t.Provider.Formats, c.route.Format)
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

// dial opens a WebSocket to the target of the conversation.
func (c *conversation) dial(ctx context.Context, h *Handler, ex *exchange.Exchange) (p *catalog.Provider, socket *exchange.Socket, refused *fault.Fault) {
	p, refused = c.partner.target.Provider, fault.AccountApart()
	for c.partner.apiKey = range p.APIKeys {
		account := seal.AccountOf(p.Name, c.partner.apiKey)
		if c.partner.account != nil && *c.partner.account != account {
			continue
		}
		socket, refused = p.Caller.(exchange.Dialer).Dial(ctx, c.attempt(ex))
		if refused == nil {
			c.partner.account = &account
		}
		if refused == nil || ctx.Err() != nil {
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
		Exchange: ex, Provider: c.partner.target.Provider.Name, Service: c.partner.target.Provider.Preset, Format: ex.Format,
		Model: c.partner.target.UpstreamModel(c.partner.model), APIKey: c.partner.apiKey, Traits: c.partner.target.TraitsOf(c.partner.model),
	}
}

// fromClient returns what the provider gets of a message of the client. A refused one is answered.
func (c *conversation) fromClient(message []byte) []byte {
	request, err := c.partner.dialect.Read(message)
	if err != nil {
		c.refuse(fault.NotRealtimeEvent())
		return nil
	}
	c.note(len(message), &request)
	if refused := c.cover(); refused != nil {
		c.relay.End(c.endOf(refused))
	}
	if c.ends() && request.Type != "response.cancel" {
		return nil
	}
	passed, refused := c.pass(message, &request)
	if refused != nil {
		c.refuse(refused)
		return nil
	}
	return passed
}

// pass returns a message of the client as the provider gets it.
func (c *conversation) pass(message []byte, request *realtime.Request) ([]byte, *fault.Fault) {
	if refused := c.refuseOthers(message, request); refused != nil {
		return nil, refused
	}
	if request.First {
		return nil, fault.NotFirstMessage()
	}
	changes, refused := openNamed(c, message, request)
	switch {
	case refused != nil:
		return nil, refused
	case request.Model.End == 0:
	case textAt(message, request.Model) != c.partner.model:
		return nil, fault.OtherSessionModel(c.partner.model)
	default:
		changes = append(changes, replacement{request.Model, c.partner.target.UpstreamModel(c.partner.model)})
	}
	if len(changes) == 0 {
		return message, nil
	}
	return rewritten(message, changes...), nil
}

// refuseOthers refuses a model beside that of the conversation that the key may not use, and what refers to
// objects that the account of the provider keeps, also in a task for another model, or has an address that the
// provider would call.
func (c *conversation) refuseOthers(message []byte, request *realtime.Request) *fault.Fault {
	if request.Unowned != "" {
		return fault.NeedsOwner(request.Unowned)
	}
	if refused := refuseWebhook(c.route.Format, message); refused != nil {
		return refused
	}
	for _, task := range request.Tasks {
		view, refused := c.route.Format.Requests.Inspect(task, translate.Generate)
		named, _ := objects.References(task, func(string) bool { return true })
		switch {
		case refused != nil:
			return refused
		case view.Beyond.State != "":
			return fault.NeedsOwner(view.Beyond.State)
		case len(named) > 0:
			return fault.NeedsOwner(named[0].Path)
		}
	}
	h := c.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, model := range request.Others {
		chain := h.resolved.limits.For(c.key, model)
		switch {
		case len(c.key.Bound()) > 0 && !c.key.Allows(model):
			return fault.ModelNotAllowed(model)
		case chain != nil && chain.NeedsPrices() && h.resolved.catalog.Price(model, c.partner.target.Provider.Name, model, time.Now()) == nil:
			return fault.PriceUnknown(model, c.partner.target.Provider.Name+"/"+model)
		}
		c.others.note(model)
	}
	return nil
}

// refuse answers a message of the client, which the provider does not get. The conversation goes on if the
// API has messages for refusals.
func (c *conversation) refuse(refused *fault.Fault) {
	if c.partner.dialect.Errors {
		c.relay.Reply(errorEvent(c.route.Format, refused))
	} else {
		c.relay.End(c.endOf(refused))
	}
}

// maxReason is the length of the longest reason of a close code, in bytes.
const maxReason = 123

// endOf returns how a conversation ends that is refused.
func (c *conversation) endOf(refused *fault.Fault) *sockets.End {
	end := &sockets.End{Closed: exchange.SocketClosed{Code: sockets.Violation, Reason: "refused"}}
	if c.partner.dialect.Errors {
		end.Last, end.Hangup = errorEvent(c.route.Format, refused), c.partner.dialect.Hangup
		return end
	}
	if refused.Kind == fault.Invalid {
		end.Closed.Code = sockets.Invalid
	}
	end.Closed.Reason = strings.ToValidUTF8(refused.Message[:min(len(refused.Message), maxReason)], "")
	return end
}

// errorEvent returns the message of a fault.
func errorEvent(f *format.Descriptor, refused *fault.Fault) []byte {
	id := exchange.NewID("event_")
	reason := jsonscan.MemberOf(f.Errors.Append(nil, refused, id), "error")
	event := jsonscan.AppendString([]byte(`{"type":"error","event_id":`), id)
	return append(append(append(event, `,"error":`...), reason...), '}')
}

// fromProvider accounts for a message of the provider, and returns what the client gets. The conversation
// ends if the limits of the key do not let it go on.
func (c *conversation) fromProvider(message []byte) (passed []byte, end *sockets.End) {
	event := c.partner.dialect.ReadEvent(message)
	if event.Searches > 0 {
		c.mu.Lock()
		c.clock.search(event.Searches, c.partner.dialect.Timed)
		c.mu.Unlock()
	}
	var refused *fault.Fault
	switch event.Kind {
	case realtime.Created:
		refused = c.created(event.Response)
	case realtime.Done:
		refused = c.done(&event)
	case realtime.Elapsed, realtime.Ended:
		refused = c.report(&event)
	case realtime.Beside:
		c.worked(&event)
	}
	if event.Tokens > 0 {
		c.generated(event.Response, event.Tokens)
	}
	if event.Handle.End > 0 {
		message = c.sealHandle(message, event.Handle)
	}
	if refused != nil {
		end = c.endOf(refused)
	}
	return message, end
}
