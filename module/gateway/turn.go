package gateway

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// turn is an exchange of a conversation: a response, or a transcript of what the client has spoken.
type turn struct {
	handler  *handler
	ex       *exchange.Exchange
	answer   *reply.Reply // whose answer nobody reads
	conduit  exchange.Conduit
	admitted limits.Admitted
	target   *catalog.Target // of a response
	records  bool            // it must not be served without a record
	covers   int64           // tokens of the conversation before the response
}

// newTurn returns a turn of the conversation with a model. The key of the client is checked again.
func (c *conversation) newTurn(h *handler, model string) (t *turn, refused *fault.Fault) {
	t = &turn{handler: h, ex: newExchange(c.socket.request, c.socket.route)}
	t.ex.Request.View.Model = model
	t.answer = reply.New(unwritten{}, t.ex)
	if refused = h.authenticate(t.answer, c.socket.request, c.socket.route.KeyFormat); refused == nil {
		refused = h.config.Names.Apply(t.ex)
	}
	return t, refused
}

// reserve reserves a response in the limits of the key: the conversation so far, and the longest answer.
func (c *conversation) reserve(h *handler) (t *turn, refused *fault.Fault) {
	m := h.resolved.catalog.Model(c.partner.model)
	if m == nil {
		return nil, fault.UnknownModel(c.partner.model)
	}
	if t, refused = c.newTurn(h, c.partner.model); refused != nil {
		return nil, refused
	}
	m = m.Without(exchange.OfConnection, func(other *catalog.Target) bool {
		return other.Provider.Name != c.partner.target.Provider.Name || other.Model != c.partner.target.Model
	})
	guard := h.resolved.guards.Checking(t.ex.Key.ID)
	switch {
	case !t.ex.Key.Allows(c.partner.model):
		return nil, fault.ModelNotAllowed(c.partner.model)
	case len(m.Targets) == 0:
		return nil, fault.NoRealtime()
	case guard != "":
		return nil, fault.PassUnseen("the guard '" + guard + "' cannot check it")
	}
	t.ex.Covering = string(m.Pattern)
	if c.partner.dialect.Timed {
		t.covers = math.MaxInt64
		t.ex.Request.View.Costs.Units = token.Units{Seconds: int64(maxStretch / time.Second)}
	} else {
		t.covers = c.tokens + max(leastSpare, c.tokens/2)
		t.ex.Request.View.Costs.Files = token.FileCosts{Tokens: t.covers}
	}
	t.target = &m.Targets[0]
	if refused = t.admit(c, m); refused != nil {
		return nil, refused
	}
	if refused = t.tryCall(c); refused != nil {
		t.release()
		return nil, refused
	}
	return t, nil
}

// leastSpare are the tokens that a reservation has for what the client says before the response, at least:
// the sound of half a minute or more.
const leastSpare = 1 << 10

// unreserved returns a turn with a model that reserves nothing, since the provider has begun it already.
func (c *conversation) unreserved(h *handler, model string) (t *turn, refused *fault.Fault) {
	if t, refused = c.newTurn(h, model); refused != nil {
		return nil, refused
	}
	operation := t.ex.Request.Operation
	t.ex.Request.Operation = translate.Pass // whose use is not known before
	_ = t.admit(c, nil)
	t.ex.Request.Operation = operation
	return t, nil
}

// tryCall reserves the turn in the limits of its target, if it has some, and releases it at once: the
// reservation that counts is made when the provider begins.
func (t *turn) tryCall(c *conversation) *fault.Fault {
	attempt := reply.New(unwritten{}, t.ex)
	defer attempt.Close(true)
	attempt.Charge(meter.New(t.admitted.Estimate, nil, nil))
	return t.handler.resolved.admitAlone(attempt, c.socket.request, t.target)
}

// admit reserves the use of the turn in the limits of its key; m is nil for one that reserves nothing.
func (t *turn) admit(c *conversation, m *catalog.Model) (refused *fault.Fault) {
	chain := t.handler.resolved.limits.For(t.ex.Key, t.ex.Request.View.Model)
	if chain == nil {
		return fault.LimitUnknown()
	}
	t.records = chain.NeedsLedger()
	t.admitted, refused = chain.Admit(t.answer, c.socket.request, m, t.handler.resolved.catalog)
	t.admitted.Estimate.Units = token.Units{} // what the stretch did not last is not charged
	return refused
}

// release ends a turn that was not used.
func (t *turn) release() {
	if t != nil && t.admitted.Reservation != nil {
		t.admitted.Reservation.Settle(aigateway.Use{})
		t.admitted.Reservation.Release()
	}
}

// begin begins the record of a turn, which the provider has begun to answer.
func (t *turn) begin(c *conversation, a *exchange.Attempt) *fault.Fault {
	now := time.Now()
	t.ex.Start = now
	if c.clock.began.IsZero() {
		c.clock.began = now
	}
	observe.Begin(t.ex)
	t.handler.drain.Enter()
	entry, unrecorded := t.handler.backends.Book.Begin(t.ex, t.handler.resolved.catalog, meter.Bound{Cost: t.admitted.Estimate.Cost}, t.records)
	t.answer.Charge(meter.New(t.admitted.Estimate, t.admitted.Reservation, entry))
	t.conduit = exchange.Conduit{Attempt: *a, Result: exchange.Result{
		State: exchange.Content, Sent: true, Status: 200, Times: exchange.Times{Called: now, Began: now},
	}}
	var refused *fault.Fault
	if t.target != nil {
		refused = t.handler.resolved.admitAlone(t.answer, c.socket.request, t.target)
	}
	t.answer.Next(&t.conduit, 0)
	return cmp.Or(unrecorded, refused)
}

// The ends of a turn.
func (t *turn) finish(u token.Usage) {
	t.conduit.Result.Finish(u)
	t.answer.WriteHeader(200)
	_, _ = t.answer.Write(nil)
}

func (t *turn) fail(f *fault.Fault) {
	t.conduit.Result.Fail(f)
	t.answer.Fail(f)
}

// settle writes the record of a turn that has ended.
func (t *turn) settle(c *conversation) {
	defer t.handler.drain.Leave()
	t.ex.Course.End(&t.conduit)
	t.handler.settle(t.ex, t.answer, c.socket.request)
}

// note adds a message of the client to the tokens of the conversation. length is in bytes. Audio is in
// base64: at most ten tokens for each second, in which a telephone sends 8000 bytes.
func (c *conversation) note(length int, request *realtime.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens += int64((length-request.Audio)/token.DefaultBytesPerToken + request.Audio/1000 + request.Tokens)
}

// cover reserves the next response anew if the client has said more than the reservation has. It returns
// why the conversation ends if the limits of the key do not allow that, and nothing runs.
func (c *conversation) cover() (refused *fault.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil || c.tokens <= c.next.covers {
		return nil
	}
	c.next.release()
	c.next, c.refusal = c.reserve(c.socket.current())
	return c.refusalAtRest()
}

// refusalAtRest returns why the conversation ends, nil if it goes on or a response runs: what runs is paid
// for, and the client gets it.
func (c *conversation) refusalAtRest() *fault.Fault {
	if len(c.running) > 0 {
		return nil
	}
	return c.refusal
}

// ends reports whether the conversation ends when no response runs. The provider then gets nothing more.
func (c *conversation) ends() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal != nil
}

// generated adds tokens to what a response has generated, which is charged if its usage stays unknown.
func (c *conversation) generated(response string, tokens int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.running[response]; t != nil {
		t.conduit.Result.Text.AddTokens(tokens)
	}
}

// created begins the turn of a response, unless it has begun.
func (c *conversation) created(response string) (refused *fault.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run(response)
}

// run begins the turn of a response, or of a stretch of time, unless it has begun. A limit that refuses one
// which the provider has begun beside others ends the conversation behind them.
func (c *conversation) run(response string) (refused *fault.Fault) {
	if c.running[response] != nil || c.ended {
		return nil
	}
	t := c.next
	if c.next = nil; t == nil { // another one runs
		if t, refused = c.reserve(c.socket.current()); refused != nil {
			c.refusal = refused
			if t, refused = c.unreserved(c.socket.current(), c.partner.model); refused != nil {
				return refused
			}
		}
	}
	select {
	case <-c.rested:
		c.rested = make(chan struct{})
	default:
	}
	c.running[response] = t
	t.admitted.Estimate.Prompt = max(0, t.admitted.Estimate.Prompt-max(0, t.covers-c.tokens)) // what was not said is not charged
	t.covers = c.tokens
	if refused = t.begin(c, c.partner.attempt(t.ex)); refused != nil {
		c.refusal = refused
	}
	return nil
}

// done settles the turn of a response, and reserves the next one.
func (c *conversation) done(event *realtime.Event) (refused *fault.Fault) {
	if refused = c.created(event.Response); refused != nil { // nothing, if it was
		return refused
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.running[event.Response]
	if t == nil { // after the end
		return nil
	}
	delete(c.running, event.Response)
	if event.Failed && !event.Usage.Known {
		t.conduit.Result.Times.Began = time.Time{} // no content that is charged
		t.fail(fault.BrokenOff("failed", ""))
	} else {
		event.Usage.Searches, c.clock.searches = event.Usage.Searches+c.clock.searches, 0
		if event.Usage.Known {
			c.tokens = event.Usage.Total() + max(0, c.tokens-t.covers) // with what the client has said since
		}
		t.finish(event.Usage)
	}
	t.settle(c)
	if len(c.running) == 0 {
		close(c.rested)
	}
	if c.next == nil && !c.ended && c.refusal == nil {
		c.next, c.refusal = c.reserve(c.socket.current())
	}
	return c.refusalAtRest()
}

// worked charges what another model has done, at its own price. It has happened already, so no limit
// refuses it.
func (c *conversation) worked(event *realtime.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !event.Usage.Known {
		return
	}
	event.Usage.Searches, c.clock.searches = c.clock.searches, 0
	model := cmp.Or(c.others.nameOf(event.Model), c.partner.target.UpstreamModel(c.partner.model))
	t, refused := c.unreserved(c.socket.current(), model)
	if refused != nil {
		return
	}
	t.ex.Request.Operation = event.Operation
	a := c.partner.attempt(t.ex)
	a.Model = model
	_ = t.begin(c, a)
	t.finish(event.Usage)
	t.settle(c)
}

// others are names of models, the last named one last.
type others []string

// mostOthers is the largest number of names that are kept.
const mostOthers = 16

// note adds a name.
func (o *others) note(model string) {
	kept := slices.DeleteFunc(*o, func(name string) bool { return name == model })
	*o = append(kept[max(0, len(kept)-mostOthers+1):], model)
}

// nameOf returns the name by which a client has asked for a model that has worked: prices often have no
// name with a date. For work without the name of a model, "", it is the last one.
func (o others) nameOf(worked string) string {
	for _, name := range slices.Backward(o) {
		if worked == "" || strings.HasPrefix(worked, name) {
			return name
		}
	}
	return worked
}

// restedNow returns a channel that is closed when no response runs.
func (c *conversation) restedNow() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rested
}

// end settles what runs when the socket ends.
func (c *conversation) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.next.release()
	c.next = nil
	for _, t := range c.running {
		if c.partner.dialect.Timed {
			t.conduit.Result.Usage = c.clock.rest(c.clock.lasted(time.Now()))
		}
		if c.relay.Socket.Provider.Closed().Code != 0 {
			t.fail(fault.BrokenOff("closed", ""))
		} else {
			t.answer.Close(true)
		}
		t.settle(c)
	}
	clear(c.running)
}
