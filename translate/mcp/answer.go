package mcp

import (
	"bytes"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Answer is a message of a server.
type Answer struct {
	ID      []byte // of the request that it answers, as it is in the message; nil if it answers none
	Answers bool   // it is an answer: it has a result, or an error that is an object
	Failed  bool   // it is an error, or the result of a tool that reports one
	Body    []byte // the message as the client gets it
}

// lists are the members of results that list elements, with the member that names each element.
var lists = map[string]struct {
	kind   Kind
	member string
}{
	"tools":             {Tool, "name"},
	"prompts":           {Prompt, "name"},
	"resources":         {Resource, "uri"},
	"resourceTemplates": {Resource, "uriTemplate"},
}

// listing are the methods whose results are lists, with the member that has the list.
var listing = map[string]string{
	"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
}

// View is how a client sees what a server offers.
type View struct {
	Method string               // that is answered; "" if it is unknown
	Shows  func(Element) bool   // reports whether the client sees an element
	Rename func(Element) string // returns the name that the client sees; nil for the names of the server

	// Keeps reports whether the client sees a tool with a definition; nil for all definitions.
	Keeps func(tool string, definition []byte) bool
}

var errNotAMessage = errors.New("a message of the server is no JSON-RPC message")

// ReadAnswer reads a message of a server, as a client sees it. Elements that the client does not see are cut
// out of lists; what is left keeps its bytes, but for new names. A result for all clients becomes one for
// this client alone, because others may see and use other elements.
func ReadAnswer(body []byte, v View) (a Answer, err error) {
	c := jsonscan.New(body)
	if !c.EnterObject() {
		return a, errors.Join(errNotAMessage, c.Err())
	}
	var edits []edit.Edit
	isRequest := false
	for c.Member() {
		switch string(c.Name()) {
		case "id":
			a.ID = c.Skip()
		case "method":
			isRequest = true
			c.Skip()
		case "error":
			if kind := c.Kind(); kind != jsonscan.Null { // which some libraries write beside a result
				a.Failed, a.Answers = true, a.Answers || kind == jsonscan.Object
			}
			c.Skip()
		case "result":
			a.Answers = true
			if !c.EnterObject() {
				c.Skip()
				continue
			}
			edits = a.readResult(&c, v)
		default:
			c.Skip()
		}
	}
	if isRequest {
		a.ID, a.Answers, a.Failed = nil, false, false
	}
	a.Body = body
	if edits != nil {
		a.Body = edit.Apply(nil, body, edits)
	}
	return a, c.Finish()
}

// readResult reads the members of a result, and returns the edits of the message.
func (a *Answer) readResult(c *jsonscan.Cursor, v View) (edits []edit.Edit) {
	isList := listing[v.Method] != "" || v.Method == ""
	for c.Member() {
		name := string(c.Name())
		list, isElements := lists[name]
		switch {
		case name == "isError":
			a.Failed = jsonscan.IsTrue(c.Skip())
		case name == "cacheScope":
			_, slot := c.SkipAt()
			edits = append(edits, editOf(slot, []byte(`"private"`)))
		case name == "capabilities" && (v.Method == initialize || v.Method == discover):
			copied := *c
			_, slot := c.SkipAt()
			if kept, cut := withoutTasks(copied.Skip()); cut {
				edits = append(edits, editOf(slot, kept))
			}
		case isList && isElements && c.Kind() == jsonscan.Array:
			copied := *c
			_, slot := c.SkipAt()
			if kept, cut := keep(&copied, list.kind, list.member, v); cut {
				edits = append(edits, editOf(slot, kept))
			}
		case v.Rename != nil && links[name] != nil:
			edits = renameLinks(edits, c, links[name], v.Rename)
		default:
			c.Skip()
		}
	}
	return edits
}

// links are the members with URIs of resources, in the contents that the protocol defines and in what results
// and tools have for clients with apps.
var links = map[string]map[string]bool{
	"content": inContents, "contents": inContents, "messages": inContents, "_meta": inMeta,
}

var (
	inContents = map[string]bool{"uri": true, "resourceUri": true, "ui/resourceUri": true}
	inMeta     = map[string]bool{"resourceUri": true, "ui/resourceUri": true}
)

// renameLinks appends edits of the URIs of resources in the value at the cursor, which are in members of some
// names.
func renameLinks(edits []edit.Edit, c *jsonscan.Cursor, names map[string]bool, rename func(Element) string) []edit.Edit {
	switch c.Kind() {
	case jsonscan.Object:
		for c.EnterMap(); c.Member(); {
			if !names[string(c.Name())] || c.Kind() != jsonscan.String {
				edits = renameLinks(edits, c, names, rename)
				continue
			}
			copied := *c
			_, slot := c.SkipAt()
			edits = append(edits, editOf(slot, jsonscan.AppendString(nil, rename(Element{Resource, jsonscan.TextOf(copied.Skip())}))))
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			edits = renameLinks(edits, c, names, rename)
		}
	default:
		c.Skip()
	}
	return edits
}

// renamed returns an element of a list with the name that the client sees, and such links.
func renamed(raw []byte, e Element, member string, rename func(Element) string) []byte {
	raw = withText(raw, rename(e), member)
	slot, ok := find(raw, "_meta")
	if !ok {
		return raw
	}
	c := jsonscan.Within(raw, slot)
	return edit.Apply(nil, raw, renameLinks(nil, &c, inMeta, rename))
}

func editOf(slot jsonscan.Slot, text []byte) edit.Edit {
	return edit.Edit{Span: translate.Span{Start: slot.Start, End: slot.End}, With: text}
}

// tasks are the names of tasks among capabilities, and among their extensions in the later versions.
var tasks = map[string]bool{"tasks": true, "io.modelcontextprotocol/tasks": true}

// withoutTasks returns the capabilities of a server without tasks, which are not passed on. cut is false if
// the server has none.
func withoutTasks(raw []byte) (kept []byte, cut bool) {
	kept = append(kept, '{')
	for name, value := range jsonscan.Members(objectOf(raw)) {
		name := string(jsonscan.AppendUnescaped(nil, name))
		if tasks[name] {
			cut = true
			continue
		}
		if name == "extensions" {
			if inner, has := withoutTasks(value); has {
				value, cut = inner, true
			}
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(append(jsonscan.AppendString(kept, name), ':'), value...)
	}
	return append(kept, '}'), cut
}

// keep returns the list at the cursor as the client sees it. changed is false if that is as it is.
func keep(c *jsonscan.Cursor, kind Kind, member string, v View) (kept []byte, changed bool) {
	kept = append(kept, '[')
	for c.EnterArray(); c.Element(); {
		raw := c.Skip()
		e := Element{kind, nameOf(raw, member)}
		if !v.Shows(e) || kind == Tool && v.Keeps != nil && !v.Keeps(e.Name, raw) {
			changed = true
			continue
		}
		if v.Rename != nil {
			raw, changed = renamed(raw, e, member, v.Rename), true
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, raw...)
	}
	return append(kept, ']'), changed
}

// nameOf returns the name of an element, "" if it has none or several.
func nameOf(raw []byte, member string) (name string) {
	c := jsonscan.Skipped(raw)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == member {
			name = jsonscan.TextOf(c.Skip())
		} else {
			c.Skip()
		}
	}
	if c.Err() != nil {
		return ""
	}
	return name
}

// HasEventID reports whether an event of a stream has an id.
func HasEventID(event []byte) bool {
	for line := range bytes.Lines(event) {
		if id, ok := bytes.CutPrefix(line, []byte("id:")); ok && len(bytes.TrimSpace(id)) > 0 {
			return true
		}
	}
	return false
}

// Event returns the data of an event of a stream, and an event with other data in its place. The event
// ends with an empty line.
func Event(event []byte) (data []byte, replace func(data []byte) []byte) {
	var others []byte
	for line := range bytes.Lines(event) {
		text := bytes.TrimRight(line, "\r\n")
		value, isData := bytes.CutPrefix(text, []byte("data:"))
		switch {
		case isData:
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		case len(text) > 0:
			others = append(others, line...)
		}
	}
	return data, func(data []byte) []byte {
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			others = append(append(append(others, "data: "...), line...), '\n')
		}
		return append(others, '\n')
	}
}
