package mcp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The functions of this file make one server of several.

// separators are what is between the name of a server and the name of an element.
var separators = [...]string{Tool: "__", Prompt: "__", Resource: "+"}

// apps is what the URIs of the pages of apps begin with, which clients know by it.
const apps = "ui://"

// Joined returns the name of an element of a server where elements of several servers are in one list:
// tickets__search_issues, docs+file:///notes.md, ui://docs/page.html. server has no underscore and no plus
// sign.
func (e Element) Joined(server string) string {
	if page, ok := strings.CutPrefix(e.Name, apps); ok && e.Kind == Resource {
		return apps + server + "/" + page
	}
	return server + separators[e.Kind] + e.Name
}

// Split returns the server of an element with a joined name, and the name that it has there. The server is "" for a
// name without one.
func (e Element) Split() (server, name string) {
	if page, ok := strings.CutPrefix(e.Name, apps); ok && e.Kind == Resource {
		server, page, _ = strings.Cut(page, "/")
		return server, apps + page
	}
	server, name, ok := strings.Cut(e.Name, separators[e.Kind])
	if !ok {
		return "", e.Name
	}
	return server, name
}

// WithName returns a message of a client with another name of the only element that it uses.
func (m *Message) WithName(body []byte, name string) []byte {
	member := methods[m.Method].member
	switch {
	case m.Method != complete:
		return withText(body, name, "params", member)
	case m.Uses[0].Kind == Resource:
		return withText(body, name, "params", "ref", "uri")
	}
	return withText(body, name, "params", "ref", "name")
}

// WithoutCapabilities returns a message that begins a session, of a client without capabilities: a server
// then has no requests of its own for the client.
func WithoutCapabilities(body []byte) []byte {
	return with(body, []byte("{}"), "params", "capabilities")
}

// withText returns a document with a string in place of the value of a member. path are the names of the
// members that lead to it.
func withText(document []byte, text string, path ...string) []byte {
	return with(document, jsonscan.AppendString(nil, text), path...)
}

// with returns a document with another value of a member, unchanged if it has no such member.
func with(document, value []byte, path ...string) []byte {
	slot, ok := find(document, path...)
	if !ok {
		return document
	}
	return edit.Apply(nil, document, []edit.Edit{editOf(slot, value)})
}

// find returns where the value of a member is in a valid document. ok is false if there is none.
func find(document []byte, path ...string) (slot jsonscan.Slot, ok bool) {
	c := jsonscan.Again(document)
	for _, name := range path {
		for c.OpenObject(); ; c.Skip() {
			if !c.Member() {
				return slot, false
			}
			if string(c.Name()) == name {
				break
			}
		}
	}
	_, slot = c.SkipAt()
	return slot, c.Err() == nil
}

// raw returns the value of a member of a valid document, nil if there is none.
func raw(document []byte, path ...string) []byte {
	slot, ok := find(document, path...)
	if !ok {
		return nil
	}
	return document[slot.Start:slot.End]
}

// Cursors returns the cursors of servers in the cursor of a message for a list, nil for the first page. ok is
// false for a cursor of another origin.
func Cursors(body []byte) (cursors map[string]string, ok bool) {
	cursor := raw(body, "params", "cursor")
	if cursor == nil || string(cursor) == "null" {
		return nil, true
	}
	text, err := base64.RawURLEncoding.DecodeString(jsonscan.TextOf(cursor))
	if err != nil || json.Unmarshal(text, &cursors) != nil || len(cursors) == 0 {
		return nil, false
	}
	return cursors, true
}

// WithCursor returns a message for a list with the cursor of a server.
func WithCursor(body []byte, cursor string) []byte { return withText(body, cursor, "params", "cursor") }

// Part is what one of several servers has answered.
type Part struct {
	Server string
	Result []byte // nil for an error
	Code   int    // of the error; 0 for none
}

// IsUnknownMethod reports whether the server of a part does not have the method of the message.
func (p *Part) IsUnknownMethod() bool { return p.Code == codeUnknownMethod }

// IsUnknownSession reports whether the server of a part does not know the session.
func (p *Part) IsUnknownSession() bool { return p.Code == codeUnknownSession }

const (
	codeUnknownMethod  = -32601
	codeUnknownSession = -32001
)

// ReadPart reads the answer of a server. ok is false if it is none.
func ReadPart(server string, answer []byte) (p Part, ok bool) {
	if result := raw(answer, "result"); len(result) > 0 && result[0] == '{' {
		return Part{Server: server, Result: result}, true
	}
	n, ok := jsonscan.Integer(raw(answer, "error", "code"))
	return Part{Server: server, Code: int(n)}, ok
}

// JoinLists returns the answer to a message for a list: the lists of all parts, one behind the other. asked
// are the cursors with which servers were asked: one that a server repeats leads to no further page.
func (m *Message) JoinLists(parts []Part, asked map[string]string) []byte {
	member := listing[m.Method]
	cursors := make(map[string]string)
	var list [][]byte
	ttl := int64(-1)
	for _, p := range parts {
		for name, value := range jsonscan.Members(p.Result) {
			switch string(name) {
			case member:
				list = appendElements(list, value)
			case "nextCursor":
				next := jsonscan.TextOf(value)
				if last, again := asked[p.Server]; jsonscan.IsString(value) && (!again || next != last) {
					cursors[p.Server] = next
				}
			case "ttlMs":
				if n, ok := jsonscan.Integer(value); ok && (ttl < 0 || n < ttl) {
					ttl = n
				}
			}
		}
	}
	body := m.beginResult()
	body = append(body, `"`+member+`":[`...)
	body = append(append(body, bytes.Join(list, []byte(","))...), ']')
	if len(cursors) > 0 {
		text, _ := json.Marshal(cursors) // strings always encode
		body = jsonscan.AppendString(append(body, `,"nextCursor":`...), base64.RawURLEncoding.EncodeToString(text))
	}
	return m.endResult(body, max(ttl, 0))
}

func appendElements(list [][]byte, array []byte) [][]byte {
	c := jsonscan.Again(array)
	for c.OpenArray(); c.Element(); {
		list = append(list, c.Skip())
	}
	return list
}

// beginResult returns the beginning of a result, up to its own members.
func (m *Message) beginResult() []byte {
	body := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...), `,"result":{`...)
	if IsStateless(m.Version) {
		body = append(body, `"resultType":"complete",`...)
	}
	return body
}

// endResult appends the end of a result. ttl is the time in milliseconds for which it is true.
func (m *Message) endResult(body []byte, ttl int64) []byte {
	if IsStateless(m.Version) {
		body = jsonscan.AppendCount(body, `,"ttlMs":`, ttl)
		body = append(body, `,"cacheScope":"private"`...)
	}
	return append(body, "}}"...)
}

// offered are the capabilities of servers that those of several have together. Others need a stream of
// each server.
var offered = []string{"tools", "prompts", "resources", "completions"}

// info is what the gateway is where it is a server.
const info = `{"name":"caddy-ai-gateway","version":"1"}`

// JoinServers returns the answer to a message that begins a session, or that asks for the capabilities of a
// server: those of all parts. The version of a session is the oldest one of all. With no part, it is that
// of the client.
func (m *Message) JoinServers(body []byte, parts []Part) []byte {
	has := make(map[string]bool)
	version := jsonscan.TextOf(raw(body, "params", "protocolVersion"))
	var versions, instructions []string
	for i, p := range parts {
		for name := range jsonscan.Members(raw(p.Result, "capabilities")) {
			has[string(name)] = true
		}
		version = min(version, cmp.Or(p.Version(), version))
		own := textsIn(raw(p.Result, "supportedVersions"))
		if i == 0 {
			versions = own
		}
		versions = slices.DeleteFunc(versions, func(v string) bool { return !slices.Contains(own, v) })
		if text := jsonscan.TextOf(raw(p.Result, "instructions")); text != "" {
			instructions = append(instructions, "Tools that begin with "+Element{Tool, ""}.Joined(p.Server)+":\n"+text)
		}
	}
	answer := m.beginResult()
	if m.Method == discover {
		names, _ := json.Marshal(versions) // strings always encode
		answer = append(append(answer, `"supportedVersions":`...), names...)
		answer = append(answer, `,"_meta":{"io.modelcontextprotocol/serverInfo":`+info+`}`...)
	} else {
		answer = jsonscan.AppendString(append(answer, `"protocolVersion":`...), version)
		answer = append(answer, `,"serverInfo":`+info...)
	}
	answer = append(answer, `,"capabilities":{`...)
	begin := `"`
	for _, name := range offered {
		if has[name] {
			answer = append(answer, begin+name+`":{}`...)
			begin = `,"`
		}
	}
	answer = append(answer, '}')
	if len(instructions) > 0 {
		answer = jsonscan.AppendString(append(answer, `,"instructions":`...), strings.Join(instructions, "\n\n"))
	}
	return m.endResult(answer, 0)
}

// Version returns the version of the protocol that the server of a part has chosen, "" if it has chosen none.
func (p *Part) Version() string { return jsonscan.TextOf(raw(p.Result, "protocolVersion")) }

func textsIn(array []byte) (all []string) {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	c := jsonscan.Again(array)
	for c.OpenArray(); c.Element(); {
		all = append(all, jsonscan.TextOf(c.Skip()))
	}
	return all
}

// Empty returns the answer to a message with an empty result.
func (m *Message) Empty() []byte {
	return append(bytes.TrimSuffix(m.beginResult(), []byte(",")), "}}"...)
}
