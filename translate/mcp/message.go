package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Message is a JSON-RPC message of a client.
type Message struct {
	Method string // "" for a response to a request of the server
	ID     []byte // as it is in the message; nil for a notification

	// Uses are the elements of the server that the message uses. A call uses one tool.
	Uses []Element

	Version   string         // of the protocol, in _meta; "" for none
	Arguments translate.Span // of a tool or a prompt; empty for none
}

// Element is what a server offers: a tool, a prompt or a resource.
type Element struct {
	Kind Kind
	Name string // the URI, or the template of one, of a resource
}

// Kind is a kind of elements.
type Kind uint8

// The kinds.
const (
	Tool Kind = iota
	Prompt
	Resource
)

// prefixes are what the names of elements begin with where those of all kinds are in one list. Tools
// have none.
var prefixes = [...]string{Tool: "", Prompt: "prompts:", Resource: "resources:"}

// String returns the name of the element in lists of elements of all kinds: search_issues,
// prompts:review, resources:file:///notes.md.
func (e Element) String() string { return prefixes[e.Kind] + e.Name }

// IsAmbiguous reports whether the element is a tool whose name is that of an element of another kind.
func (e Element) IsAmbiguous() bool {
	return e.Kind == Tool && (strings.HasPrefix(e.Name, prefixes[Prompt]) || strings.HasPrefix(e.Name, prefixes[Resource]))
}

// IsCall reports whether the message calls a tool.
func (m *Message) IsCall() bool { return m.Method == callTool }

// IsRequest reports whether the message asks for an answer. A request without a message, m nil, does not.
func (m *Message) IsRequest() bool { return m != nil && m.Method != "" && m.ID != nil }

// IsSubscription reports whether the answer to the message is a stream that has no end of its own.
func (m *Message) IsSubscription() bool { return m.Method == subscribe }

const (
	callTool   = "tools/call"
	subscribe  = "subscriptions/listen"
	initialize = "initialize"
	discover   = "server/discover"
	complete   = "completion/complete"
)

// methods are the methods of clients, with the member of their parameters that names an element. A
// method that is not among them may refer to what the server keeps for all clients, such as its tasks.
var methods = map[string]struct {
	member string
	kind   Kind
}{
	initialize:                  {},
	discover:                    {},
	"ping":                      {},
	"logging/setLevel":          {},
	complete:                    {},
	subscribe:                   {},
	"tools/list":                {},
	"prompts/list":              {},
	"resources/list":            {},
	"resources/templates/list":  {},
	callTool:                    {"name", Tool},
	"prompts/get":               {"name", Prompt},
	"resources/read":            {"uri", Resource},
	"resources/subscribe":       {"uri", Resource},
	"resources/unsubscribe":     {"uri", Resource},
	"notifications/initialized": {},
	"notifications/cancelled":   {},
	"notifications/progress":    {},

	"notifications/roots/list_changed": {},
}

// maxID is the length of the longest id, in bytes.
const maxID = 256

// Read reads the message of a client.
func Read(body []byte) (*Message, *fault.Fault) {
	r := reader{body: body}
	c := jsonscan.New(body)
	if c.Kind() == jsonscan.Array {
		return nil, fault.MCPBatch()
	}
	if !c.EnterObject() {
		return nil, cmp.Or(syntax(c.Err()), fault.BodyNotObject())
	}
	for c.Member() && r.refused == nil {
		r.member(&c)
	}
	if r.refused == nil {
		r.refused = syntax(c.Finish())
	}
	if r.refused == nil {
		r.refused = r.check()
	}
	return &r.Message, r.refused
}

// reader reads one message.
type reader struct {
	Message
	body     []byte
	params   jsonscan.Slot
	version  bool // it has the version of JSON-RPC
	answered bool // it has a result or an error
	refused  *fault.Fault
}

// member reads a member of the message.
func (r *reader) member(c *jsonscan.Cursor) {
	switch name := string(c.Name()); name {
	case "jsonrpc":
		r.version = jsonscan.TextOf(c.Skip()) == "2.0"
	case "id":
		kind := c.Kind()
		raw := c.Skip()
		if kind != jsonscan.String && kind != jsonscan.Number || len(raw) > maxID {
			r.refused = fault.InvalidField("id", "must be a string or a number of at most 256 bytes")
			return
		}
		r.ID = raw
	case "method":
		if c.Kind() != jsonscan.String {
			r.refused = fault.InvalidField("method", "must be a string")
		}
		r.Method = jsonscan.TextOf(c.Skip())
	case "params":
		if c.Kind() != jsonscan.Object {
			r.refused = fault.InvalidField("params", "must be an object")
		}
		if _, r.params = c.SkipAt(); r.refused == nil && c.Err() == nil {
			r.refused = syntax(unique(jsonscan.Within(r.body, r.params)))
		}
	case "result", "error":
		r.answered = true
		c.Skip()
	default:
		r.refused = fault.MCPUnknownMember()
		c.Skip()
	}
}

// unique returns an error for a value in which an object has a member twice.
func unique(c jsonscan.Cursor) error {
	walk(&c)
	return c.Err()
}

// walk consumes the value at the cursor with all that is in it. The cursor bounds the depth.
func walk(c *jsonscan.Cursor) {
	switch c.Kind() {
	case jsonscan.Object:
		for c.EnterMap(); c.Member(); {
			walk(c)
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			walk(c)
		}
	default:
		c.Skip()
	}
}

// check checks the message as a whole, and finds what it uses.
func (r *reader) check() *fault.Fault {
	known, ok := methods[r.Method]
	notification := strings.HasPrefix(r.Method, "notifications/")
	switch {
	case !r.version:
		return fault.InvalidField("jsonrpc", "must be '2.0'")
	case r.Method == "" && (!r.answered || r.ID == nil):
		return fault.InvalidField("method", "must be set")
	case r.Method == "":
		return nil
	case r.answered || notification == (r.ID != nil):
		return fault.InvalidField("id", "must be set in requests, and in no notification")
	case !ok:
		return fault.MCPUnknownMethod()
	}
	if r.refused = r.readParams(known.member, known.kind); r.refused != nil {
		return r.refused
	}
	if known.member != "" && len(r.Uses) == 0 {
		return fault.InvalidField("params."+known.member, "must be a string that is not empty")
	}
	return nil
}

// readParams reads the parameters of a method, of which one member names an element of a kind.
func (r *reader) readParams(member string, kind Kind) *fault.Fault {
	if r.params.End == 0 {
		return nil
	}
	c := jsonscan.Within(r.body, r.params)
	for c.OpenObject(); c.Member(); {
		name := string(c.Name())
		isNamed := member != "" && strings.EqualFold(name, member)
		switch {
		case isNamed && name != member:
			return fault.InvalidField("params."+member, "must be written in lower case")
		case isNamed:
			if text := jsonscan.TextOf(c.Skip()); text != "" {
				r.Uses = append(r.Uses, Element{kind, text})
			}
		case name == "arguments":
			_, slot := c.SkipAt()
			r.Arguments = translate.Span{Start: slot.Start, End: slot.End}
		case name == "_meta":
			r.Version = jsonscan.TextOf(jsonscan.MemberOf(objectOf(c.Skip()), versionMember))
		case r.Method == callTool && strings.EqualFold(name, "task"):
			return fault.InvalidField("params.task", "must be left out: this gateway passes no tasks on")
		case r.Method == complete && strings.EqualFold(name, "ref"):
			r.readReference(c.Skip())
		case r.Method == subscribe:
			r.readSubscriptions(&c, name)
		default:
			c.Skip()
		}
	}
	return syntax(c.Err())
}

const versionMember = "io.modelcontextprotocol/protocolVersion"

// objectOf returns a raw object, an empty one for a value of another kind.
func objectOf(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return []byte("{}")
	}
	return raw
}

// readReference reads the prompt or the resource whose argument is completed.
func (r *reader) readReference(raw []byte) {
	for name, value := range jsonscan.Members(objectOf(raw)) {
		switch strings.ToLower(string(name)) {
		case "name":
			r.Uses = append(r.Uses, Element{Prompt, jsonscan.TextOf(value)})
		case "uri":
			r.Uses = append(r.Uses, Element{Resource, jsonscan.TextOf(value)})
		}
	}
}

// readSubscriptions reads the URIs to whose resources a client subscribes, at any depth.
func (r *reader) readSubscriptions(c *jsonscan.Cursor, name string) {
	switch kind := c.Kind(); {
	case kind == jsonscan.Object:
		for c.EnterObject(); c.Member(); {
			r.readSubscriptions(c, string(c.Name()))
		}
	case kind == jsonscan.Array && strings.EqualFold(name, "resourceSubscriptions"):
		for c.EnterArray(); c.Element(); {
			r.Uses = append(r.Uses, Element{Resource, jsonscan.TextOf(c.Skip())})
		}
	default:
		c.Skip()
	}
}

// syntax returns the fault of an error of a cursor, nil for none.
func syntax(err error) *fault.Fault {
	var twice *jsonscan.DuplicateError
	var broken *jsonscan.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &twice):
		return fault.MCPRepeated(err)
	case errors.As(err, &broken) && broken.TooDeep():
		return fault.NestedTooDeeply(broken.Offset, jsonscan.MaxDepth)
	case errors.As(err, &broken):
		return fault.Malformed(broken.Offset, err)
	}
	return fault.Malformed(0, err)
}

// IsNoID reports whether an id, as it is in its message, is missing or null.
func IsNoID(id []byte) bool { return len(id) == 0 || string(id) == "null" }

// SameID reports whether two ids, as they are in their messages, are of the same request.
func SameID(a, b []byte) bool {
	if jsonscan.IsString(a) && jsonscan.IsString(b) {
		return jsonscan.SameText(a, b)
	}
	return bytes.Equal(a, b)
}
