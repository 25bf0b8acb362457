package texts

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// named is the name of a tool or of the tool of a call.
type named struct {
	kind Kind
	name string
}

// naming are the members whose objects name tools or calls, in whatever format. The names of
// members here and below are folded, since servers accept several spellings.
var naming = map[string]Kind{
	"tools":                Tool,
	"functions":            Tool,
	"functiondeclarations": Tool,
	"mcpservers":           Tool,
	"allowedtools":         Tool,
	"toolnames":            Tool,
	"allowedfunctionnames": Tool,
	"toolcalls":            Call,
	"functioncall":         Call,
}

// features are the members that are a tool or a call themselves.
var features = map[string]named{
	"websearchoptions": {Tool, "web_search"},
	"mcpservers":       {Tool, "mcp"},
	"executablecode":   {Call, "codeExecution"},
}

// servers are the members of tools that say which server the vendor calls. The member url of a tool is one,
// too: of Anthropic in a list of servers, of Google in the transport of a server.
var servers = map[string]bool{"serverurl": true, "connectorid": true, "tunnelid": true, "url": true}

// data are the members whose objects have names of the client: schemas, arguments and results.
// The member input of a call is one, too; that of a request is a list.
var data = map[string]bool{
	"properties": true, "$defs": true, "definitions": true, "args": true, "arguments": true, "functionresponse": true,
}

// general are the types, and the types of calls without their suffix, that name no tool.
var general = []string{"", "function", "custom", "custom_tool", "namespace", "url", "tool"}

// deepest bounds the containers around a name, and so the time for a body.
const deepest = 16

// names are the names in a body, each once.
type names map[named]bool

// inventory is what a body has, whether or not a reader recognises it.
type inventory struct {
	names
	data    [][]byte // the objects of data that are in no other one
	results [][]byte // those that a tool has returned
}

// inventoryOf returns the inventory of valid JSON.
func inventoryOf(body []byte) inventory {
	list := inventory{names: make(names)}
	c := jsonscan.Again(body)
	list.value(c.Skip(), Other, deepest)
	return list
}

// NamesTools reports whether valid JSON declares tools, also such as a provider has itself.
func NamesTools(body []byte) bool {
	for name := range inventoryOf(body).names {
		if name.kind == Tool {
			return true
		}
	}
	return false
}

func (n names) add(kind Kind, list ...string) {
	for _, name := range list {
		if name != "" {
			n[named{kind, name}] = true
		}
	}
}

// sorted returns the names in a stable order.
func (n names) sorted() []named {
	return slices.SortedFunc(maps.Keys(n), func(a, b named) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
}

// value reads a value, whose objects name tools or calls if the kind is not Other.
func (i *inventory) value(raw []byte, kind Kind, depth int) {
	if len(raw) == 0 || depth == 0 {
		return
	}
	switch raw[0] {
	case '{':
		i.object(raw, kind, depth-1)
	case '[':
		c := jsonscan.Again(raw)
		for c.EnterArray(); c.Element(); {
			element := c.Skip()
			if kind == Tool {
				i.add(kind, jsonscan.TextOf(element))
			}
			i.value(element, kind, depth-1)
		}
	}
}

// object reads the members of an object in whatever order, repeated ones included.
func (i *inventory) object(raw []byte, kind Kind, depth int) {
	var own, types, keys []string
	for key, value := range jsonscan.Members(raw) {
		if bytes.IndexByte(key, '\\') >= 0 {
			key = jsonscan.AppendUnescaped(nil, key)
		}
		folded := strings.ReplaceAll(strings.ToLower(string(key)), "_", "")
		if data[folded] || folded == "input" && value[0] == '{' {
			i.keep(folded, value)
			continue
		}
		if f, ok := features[folded]; ok && (value[0] == '{' || !jsonscan.IsZero(value)) {
			i.add(f.kind, f.name)
		}
		inner := naming[folded]
		if kind == Tool && servers[folded] && jsonscan.IsString(value) {
			i.add(Server, jsonscan.TextOf(value))
		}
		if kind == Tool && folded == "streamablehttptransport" {
			i.servers(value)
			continue
		}
		switch folded {
		case "name":
			own = append(own, jsonscan.TextOf(value))
		case "type":
			types = append(types, jsonscan.TextOf(value))
		case "function", "custom":
			inner = kind
		case "configs": // of the tools of a server
			for name := range jsonscan.Members(value) {
				own = append(own, string(jsonscan.AppendUnescaped(nil, name)))
			}
		default:
			if value[0] == '{' && inner == Other {
				keys = append(keys, string(key))
			}
		}
		i.value(value, inner, depth)
	}
	i.addObject(kind, own, types, keys)
}

// servers adds the addresses in the transport of a server, repeated ones included.
func (n names) servers(transport []byte) {
	for key, value := range jsonscan.Members(transport) {
		if jsonscan.IsString(value) && strings.EqualFold(string(jsonscan.AppendUnescaped(nil, key)), "url") {
			n.add(Server, jsonscan.TextOf(value))
		}
	}
}

// keep adds the objects of a member with data.
func (i *inventory) keep(name string, value []byte) {
	switch {
	case value[0] != '{':
	case name != "functionresponse":
		i.data = append(i.data, value)
	default: // beside files
		for _, part := range jsonscan.Members(value) {
			if part[0] == '{' {
				i.results = append(i.results, part)
			}
		}
	}
}

// addObject adds the names of an object: its own ones and its types, or else its members with
// objects, such as googleSearch.
func (n names) addObject(kind Kind, own, types, keys []string) {
	for i, t := range types {
		base, call := strings.CutSuffix(t, "_call")
		if call || strings.HasSuffix(t, "tool_use") || t == "mcp_approval_request" {
			kind = Call
		}
		if !call && kind == Call {
			base = ""
		}
		types[i] = base
	}
	if kind == Other {
		return
	}
	n.add(kind, own...)
	n.add(kind, slices.DeleteFunc(types, func(t string) bool { return slices.Contains(general, t) })...)
	if kind == Tool && len(own)+len(types) == 0 {
		n.add(kind, keys...)
	}
}

// owns are the names of members that formats have, by their requests. They are computed once.
var owns sync.Map // from *format.Requests to map[string]bool

// ownNames returns the names of members that a format has. They are no texts of the client.
func ownNames(requests *format.Requests) map[string]bool {
	if known, ok := owns.Load(requests); ok {
		return known.(map[string]bool)
	}
	own := make(map[string]bool)
	for _, word := range requests.Words() {
		own[word] = true
	}
	owns.Store(requests, own)
	return own
}

// isNews reports whether the name of a member is neither one of the format nor was read before.
func (l *listener) isNews(raw []byte) bool {
	name := jsonscan.Inner(raw)
	if bytes.IndexByte(name, '\\') >= 0 {
		name = jsonscan.AppendUnescaped(nil, name)
	}
	if len(name) == 0 || l.own[string(name)] || l.names[string(name)] {
		return false
	}
	l.names[string(name)] = true
	return true
}

// isPlainName reports whether the name of a member has the form of those that formats have in
// answers, without digits.
func isPlainName(name []byte) bool {
	return len(name) == 0 || translate.MemberLike(name) && !bytes.ContainsAny(name, "0123456789")
}
