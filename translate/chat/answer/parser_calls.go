package answer

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// calls contains the tool calls of one choice, in the order of their first entries.
type calls struct {
	choice int
	held   *int // bytes that wait, in all choices
	all    []call
	begun  []int         // the calls that were sent, by their number
	last   int           // the call of the last entry: only its name can still be incomplete
	index  map[int64]int // the calls by the indexes of the provider
}

// call is the state of a call.
type call struct {
	id, name []byte
	extra    []byte // what the provider wants back with the call; nil for nothing
	custom   bool
	begun    bool   // the name is complete, and the call was sent
	number   int    // among the calls that were sent
	waiting  []byte // arguments that were not sent yet
	args     toolcall.Arguments
	renamed  bool // the name was repeated after the arguments were complete
}

const (
	// maxCalls bounds the calls of one answer.
	maxCalls = 4096
	// maxWaiting bounds all incomplete names and the arguments that wait for them, in
	// bytes.
	maxWaiting = sse.DefaultMaxEvent
)

var (
	errWaiting  = fmt.Errorf("more than %d bytes of tool calls in front of the ends of their names", maxWaiting)
	errNameless = errors.New("a tool call without a name")
	errCalls    = fmt.Errorf("more than %d tool calls", maxCalls)
)

// entry contains the members of one element of tool_calls: raw strings, nil for absent
// ones.
type entry struct {
	index    int64 // -1 for none
	id, name []byte
	args     []byte        // a string, or any other value
	argsSlot jsonscan.Slot // of args that are a string
	extra    []byte        // extra_content, an object
	custom   bool
}

// newEntry returns the entry of an element of tool_calls.
func newEntry(v *members.Values) entry {
	e := newCalled(v, functionName, functionArgs)
	if v.Raw(customName) != nil || v.Raw(customArgs) != nil {
		e = newCalled(v, customName, customArgs)
		e.custom = true
	}
	e.index, e.id, e.extra = -1, v.Raw(entryID), v.Raw(entryExtra)
	if n, ok := jsonscan.Integer(v.Raw(entryIndex)); ok && n >= 0 {
		e.index = n
	}
	return e
}

// newCalled returns an entry with the name and the arguments of a function or a tool.
func newCalled(v *members.Values, name, args members.Member) entry {
	e := entry{name: v.Raw(name), args: v.Raw(args)}
	if jsonscan.IsString(e.args) {
		e.argsSlot = v.At(args)
	}
	return e
}

// sendEntries sends the events of the elements of tool_calls. whole reports that the list is
// complete, so that each element is a call of its own.
func (a *calls) sendEntries(p *openai.Parser, message *members.Values, whole bool) {
	c := message.Cursor(messageCalls)
	var v members.Values
	c.EnterArray()
	for nth := 0; c.Element(); nth++ {
		if c.Kind() != jsonscan.Object {
			if !jsonscan.Blank(c.Skip()) {
				p.Drop(inMessage + "tool_calls[*]")
			}
			continue
		}
		if v.Read(&c, entries, &p.Dropped); c.Err() != nil {
			break
		}
		e := newEntry(&v)
		isNew := whole || nth > 0 && e.index < 0
		a.add(p, a.find(&e, isNew), &e)
	}
	p.Events.Refuse(c.Finish())
}

// sendOnly sends the events of the deprecated function_call. There is only one.
func (a *calls) sendOnly(p *openai.Parser, message *members.Values) {
	c := message.Cursor(messageCall)
	var v members.Values
	v.Read(&c, onlyCall, &p.Dropped)
	if p.Events.Refuse(c.Finish()); c.Err() == nil {
		e := newCalled(&v, onlyCallName, onlyCallArgs)
		a.add(p, a.find(&e, false), &e)
	}
}

// find returns the position of the call of an entry, and appends the call if it is new.
// isNew reports that the entry belongs to no earlier call.
func (a *calls) find(e *entry, isNew bool) int {
	if e.index < 0 || isNew {
		return a.findByID(e, isNew)
	}
	i, known := a.index[e.index]
	if !known || a.renumbered(&a.all[i], e) || a.all[i].resumes(e) {
		i = a.appendCall()
		if a.index == nil {
			a.index = make(map[int64]int, 1)
		}
		a.index[e.index] = i
	}
	return i
}

// renumbered reports whether an entry with the index of a call belongs to another call:
// some servers give all calls the same index. Such an entry has a name, and another id
// than the call. Without ids, the arguments of the call are complete, and the entry has
// another name or arguments.
func (a *calls) renumbered(known *call, e *entry) bool {
	if len(e.name) <= len(`""`) {
		return false
	}
	if len(e.id) > len(`""`) && len(known.id) > 0 {
		return !same(known.id, e.id)
	}
	return known.args.Complete() && (len(e.args) > len(`""`) || len(known.name) > 0 && !same(known.name, e.name))
}

// resumes reports whether an entry has the arguments of another call of the same tool:
// after the complete arguments of the call, its name was repeated, and the entry begins
// another object of arguments. The entry then gets the name.
func (c *call) resumes(e *entry) bool {
	if !c.renamed || len(e.name) > len(`""`) || len(e.args) <= len(`""`) {
		return false
	}
	text := e.args
	if text[0] == '"' {
		text = jsonscan.AppendText(nil, text)
	}
	var args toolcall.Arguments
	if args.Add(text); !args.IsObject() {
		return false
	}
	e.name = jsonscan.AppendString(nil, c.name)
	return true
}

// findByID is find for an entry without an index.
func (a *calls) findByID(e *entry, isNew bool) int {
	if len(a.all) == 0 || isNew {
		return a.appendCall()
	}
	if len(e.id) <= len(`""`) {
		if a.isAnother(e) || a.all[a.last].resumes(e) {
			return a.appendCall()
		}
		return a.last
	}
	for i := range a.all {
		if same(a.all[i].id, e.id) {
			return i
		}
	}
	return a.appendCall()
}

// isAnother reports whether an entry with neither index nor id belongs to another call
// than the last one.
func (a *calls) isAnother(e *entry) bool {
	last := &a.all[a.last]
	return len(e.name) > len(`""`) && len(last.name) > 0 && (!same(last.name, e.name) || a.renumbered(last, e))
}

func (a *calls) appendCall() int {
	a.all = append(a.all, call{})
	return len(a.all) - 1
}

// add sends the events of an entry. Since a name may be a fragment, the call begins only
// with its arguments; most servers send empty ones in the first chunk.
func (a *calls) add(p *openai.Parser, i int, e *entry) {
	if i >= maxCalls {
		p.Events.Refuse(errCalls)
		return
	}
	if i != a.last {
		a.flushLast(p)
	}
	a.last = i
	c := &a.all[i]
	if len(c.id) == 0 && len(e.id) > len(`""`) {
		c.id = jsonscan.AppendText(nil, e.id)
	}
	if e.extra != nil {
		c.extra = append(c.extra[:0], e.extra...)
		if c.begun {
			p.Events.Send(c.memo())
		}
	}
	c.custom = c.custom || e.custom
	c.renamed = c.renamed || c.args.Complete() && len(e.name) > len(`""`)
	a.addName(p, c, e.name)
	if e.args != nil || len(c.waiting) > 0 {
		a.flushLast(p)
	}
	a.addArguments(p, i, e)
}

// addName joins the fragments of a name. Many servers repeat the whole name with every
// fragment of the arguments, and some repeat the earlier fragments with every fragment
// of the name.
func (a *calls) addName(p *openai.Parser, c *call, name []byte) {
	switch {
	case len(name) <= len(`""`) || same(c.name, name):
	case c.begun:
		p.Drop("choices[*].message.tool_calls[*].function.name")
	default:
		length := len(c.name)
		c.name = jsonscan.AppendText(c.name, name)
		if bytes.HasPrefix(c.name[length:], c.name[:length]) {
			c.name = c.name[length:]
		}
		a.hold(p, len(c.name)-length)
		p.Events.Differ()
	}
}

// hold adds to the number of bytes that wait.
func (a *calls) hold(p *openai.Parser, n int) {
	if *a.held += n; *a.held > maxWaiting {
		p.Events.Refuse(errWaiting)
	}
}

// flushLast begins the call of the last entry: its name is complete.
func (a *calls) flushLast(p *openai.Parser) {
	if len(a.all) == 0 {
		return
	}
	if c := &a.all[a.last]; !c.begun && len(c.name) > 0 {
		a.begin(p, c)
	}
}

// begin sends the start of a call, and the arguments that waited for it.
func (a *calls) begin(p *openai.Parser, c *call) {
	c.begun, c.number = true, len(a.begun)
	a.begun = append(a.begun, a.last)
	*a.held -= len(c.name) + len(c.waiting)
	p.Events.Send(event.Event{
		Kind: event.ToolStart, Choice: a.choice, Tool: c.number, ID: c.id, Name: c.name, Custom: c.custom,
	})
	if c.extra != nil {
		p.Events.Send(c.memo())
	}
	if len(c.waiting) > 0 {
		p.Events.Send(a.arguments(c))
		c.waiting = c.waiting[:0]
	}
}

// memo returns the event with what the provider wants back with a call.
func (c *call) memo() event.Event { return event.Event{Kind: event.Memo, ID: c.id, Raw: c.extra} }

// first returns the call that was sent first, nil for none.
func (a *calls) first() *call {
	if len(a.begun) == 0 {
		return nil
	}
	return &a.all[a.begun[0]]
}

// arguments returns the event with the waiting arguments of a call that was sent.
func (a *calls) arguments(c *call) event.Event {
	return event.Event{Kind: event.ToolArgs, Choice: a.choice, Tool: c.number, Text: c.waiting}
}

// addArguments sends a fragment of arguments, or keeps the fragment until the call has a
// name.
func (a *calls) addArguments(p *openai.Parser, i int, e *entry) {
	c := &a.all[i]
	if len(e.args) == 0 || string(e.args) == `""` {
		return
	}
	length := len(c.waiting)
	if e.args[0] == '"' {
		c.waiting = jsonscan.AppendText(c.waiting, e.args)
	} else {
		c.waiting = append(c.waiting, e.args...)
	}
	c.args.Add(c.waiting[length:])
	if c.begun {
		slot := e.argsSlot
		if e.index < 0 || len(e.name) > len(`""`) { // the call of a later delta must follow from the index alone
			slot = jsonscan.Slot{}
		}
		p.Events.SendAt(a.arguments(c), slot)
		c.waiting = c.waiting[:0]
		return
	}
	a.hold(p, len(c.waiting)-length)
}

// end returns an error if the calls as a whole are invalid.
func (a *calls) end() error {
	for i := range a.all {
		c := &a.all[i]
		if !c.begun && (len(c.id) > 0 || len(bytes.TrimSpace(c.waiting)) > 0) {
			return errNameless
		}
	}
	return nil
}

// same reports whether a text equals a raw string.
func same(text, raw []byte) bool { return bytes.Equal(text, jsonscan.DecodedOf(raw)) }
