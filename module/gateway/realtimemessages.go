package gateway

import (
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

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
	if refused := c.check(message, request); refused != nil {
		return nil, refused
	}
	if request.First {
		return nil, fault.NotFirstMessage()
	}
	changes, refused := c.openNamed(message, request)
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

// refuseObjects refuses what refers to objects that the account of the provider keeps, also in a task for another
// model, or has an address that the provider would call.
func refuseObjects(f *format.Descriptor, message []byte, request *realtime.Request) *fault.Fault {
	if request.Unowned != "" {
		return fault.NeedsOwner(request.Unowned)
	}
	if refused := refuseWebhook(f, message); refused != nil {
		return refused
	}
	for _, task := range request.Tasks {
		view, refused := f.Requests.Inspect(task, translate.Generate)
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
	return nil
}

// check refuses a message that refers to objects of the account of the provider, or to a model beside that of the
// conversation that the key may not use.
func (c *conversation) check(message []byte, request *realtime.Request) *fault.Fault {
	if refused := refuseObjects(c.socket.route.Format, message, request); refused != nil {
		return refused
	}
	h := c.socket.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, model := range request.Others {
		if len(c.socket.key.Bound()) > 0 && !c.socket.key.Allows(model) {
			return fault.ModelNotAllowed(model)
		}
		if chain, provider := h.resolved.limits.For(c.socket.key, model), c.partner.target.Provider.Name; chain != nil {
			if refused := chain.CheckPrice(model, provider+"/"+model, h.resolved.catalog.Price(model, provider, model, time.Now())); refused != nil {
				return refused
			}
		}
		c.others.note(model)
	}
	return nil
}

// refuse answers a message of the client, which the provider does not get. The conversation goes on if the
// API has messages for refusals.
func (c *conversation) refuse(refused *fault.Fault) {
	if c.partner.dialect.Errors {
		c.relay.Reply(errorEvent(c.socket.route.Format, refused))
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
		end.Last, end.Hangup = errorEvent(c.socket.route.Format, refused), c.partner.dialect.Hangup
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
func (c *conversation) openNamed(message []byte, request *realtime.Request) (opened []replacement, refused *fault.Fault) {
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
	owner := exchange.Exchange{Key: c.socket.key}
	return c.socket.current().providers.Seals().IDs(owner.Owner())
}
