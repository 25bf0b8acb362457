package responses

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// input reads the conversation: one text, or a list of items.
func (r *reader) input() {
	raw := r.body.Raw("input")
	switch {
	case raw == nil:
		r.body.Missing("input")
	case wire.Quoted(raw):
		r.user(r.body.Text("input"))
		r.Messages++
	case len(r.body.Items("input")) == 0:
		r.body.Fail("input", "must hold at least one item")
	default:
		r.items()
	}
}

func (r *reader) items() {
	c := &conversation{reader: r}
	r.body.Each("input", c.item)
	if !c.pairs.Settled() {
		r.body.Fail("input", "no tool output found for a function call")
	}
	c.follow("", wire.Object{}) // nothing follows the last item
}

// conversation reads the items of the input.
type conversation struct {
	*reader
	pairs    wire.Pairing
	dangling *wire.Object // the reasoning that needs a following item
}

func (c *conversation) item(i wire.Object) {
	kind := i.Text("type")
	if kind == "" && i.Has("role") {
		kind = "message"
	}
	c.follow(kind, i)
	switch kind {
	case "message":
		c.message(i)
	case "reasoning":
		c.reasoningItem(i)
	case "function_call", "custom_tool_call":
		c.call(kind, i)
	case "function_call_output", "custom_tool_call_output":
		c.output(i)
	case "additional_tools", "tool_search_output":
		i.Each("tools", func(t wire.Object) { c.tool("", t) })
	case "compaction":
		c.sealed(i, i.Need("encrypted_content"))
	default:
		c.other(kind, i)
	}
}

// follow checks that a reasoning item is followed by an item of the model.
func (c *conversation) follow(kind string, i wire.Object) {
	if c.dangling != nil && !c.byModel(kind, i) {
		c.dangling.Refuse("a reasoning item must be followed by the item that it belongs to", "")
	}
	c.dangling = nil
}

// byModel reports whether the model made the item.
func (c *conversation) byModel(kind string, i wire.Object) bool {
	if kind == "message" {
		return i.Text("role") == "assistant"
	}
	return kind == "reasoning" || strings.HasSuffix(kind, "_call")
}

func (c *conversation) message(m wire.Object) {
	m.Known("type", "role", "content", "id", "status", "phase")
	c.Messages++
	role := m.OneOf("role", "user", "assistant", "system", "developer")
	if role == "" {
		m.Missing("role")
	}
	text := c.content(m, "content")
	switch role {
	case "user":
		c.user(text)
	case "assistant":
		c.assistant()
		c.AddText(text)
	default:
		c.AddSystem(text)
	}
}

// user begins a turn of the user, to which the answer refers.
func (r *reader) user(text string) {
	r.Prompts, r.Results = []string{text}, nil
	r.AddText(text)
}

// assistant begins or continues a turn of the assistant.
func (r *reader) assistant() {
	r.Later = true
	r.Results = nil
}

// content reads a string, or joins the texts of a list of parts.
func (c *conversation) content(o wire.Object, name string) string {
	if !o.Has(name) {
		o.Missing(name)
	}
	if wire.Quoted(o.Raw(name)) {
		return o.Text(name)
	}
	var texts []string
	o.Each(name, func(p wire.Object) {
		switch kind := p.Need("type"); kind {
		case "input_text", "output_text":
			texts = append(texts, p.Text("text"))
		case "refusal":
			texts = append(texts, p.Need("refusal"))
		case "input_image", "input_file":
			c.media(kind, p)
		default:
			p.Fail("type", "this part is not allowed here")
		}
	})
	return strings.Join(texts, "\n")
}

func (c *conversation) media(kind string, p wire.Object) {
	if kind == "input_image" && !p.Has("file_id") {
		url := p.Need("image_url")
		if !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "http") {
			p.Fail("image_url", "must be an http(s) or data URL")
		}
	}
	if p.Has("file_id") {
		p.Fail("file_id", "no such file: this provider keeps none")
	}
	c.AddMedia()
}

// values are the members with the input of a call, by the type of the call.
var values = map[string]string{"function_call": "arguments", "custom_tool_call": "input"}

// idPrefixes are the prefixes of ids, by the type of the item.
var idPrefixes = map[string]string{"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs"}

func (c *conversation) call(kind string, i wire.Object) {
	i.Known("type", "call_id", "name", "namespace", "id", "status", "caller", "async", values[kind])
	c.checkID(kind, i)
	i.Need("name")
	if !i.Has(values[kind]) {
		i.Missing(values[kind])
	}
	c.assistant()
	c.AddText(i.Text(values[kind]))
	c.pairs.Call(i.Need("call_id"))
}

func (c *conversation) checkID(kind string, i wire.Object) {
	if id := i.Text("id"); i.Has("id") && !strings.HasPrefix(id, idPrefixes[kind]) {
		i.Fail("id", "must begin with '"+idPrefixes[kind]+"'")
	}
}

func (c *conversation) output(i wire.Object) {
	i.Known("type", "call_id", "output", "id", "status", "name", "caller")
	if !c.pairs.Result(i.Need("call_id")) {
		i.Fail("call_id", "no tool call found for this output")
	}
	result := c.content(i, "output")
	c.Prompts = nil // the answer is about the result, and no longer about the prompt
	c.Results = append(c.Results, result)
	c.AddText(result)
}

func (c *conversation) reasoningItem(i wire.Object) {
	i.Known("type", "id", "summary", "content", "encrypted_content", "status")
	c.checkID("reasoning", i)
	if !i.Has("summary") {
		i.Missing("summary")
	}
	i.Each("summary", func(p wire.Object) { c.AddText(p.Text("text")) })
	c.assistant()
	sealed := i.Text("encrypted_content")
	if sealed != "" {
		c.sealed(i, sealed)
	} else if i.Has("id") {
		c.notStored(i)
	}
	if i.Strict() {
		c.dangling = &i
	}
}

// sealed checks that a client sends encrypted content back unchanged.
func (c *conversation) sealed(i wire.Object, content string) {
	if i.Strict() && !reply.Signed("", content) {
		i.RefuseMember("encrypted_content", "the encrypted content could not be verified", "invalid_encrypted_content")
	}
}

// notStored refuses an item that consists only of an id.
func (c *conversation) notStored(i wire.Object) {
	if !i.Strict() {
		return
	}
	c.body.Refuse(&reply.Refusal{
		Status: http.StatusNotFound, Param: "input",
		Message: "an item with this id was not found: items are not persisted when store is false",
	})
}

// serverItems are the other types of items, which are neither calls nor their outputs.
var serverItems = []string{
	"mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "program", "program_output", "configuration_update",
}

// other accepts items of known types without reading them.
func (c *conversation) other(kind string, i wire.Object) {
	switch {
	case strings.HasSuffix(kind, "_call"):
		c.assistant()
	case strings.HasSuffix(kind, "_call_output"), hasAnyPrefix(kind, serverItems):
	case kind == "item_reference":
		c.body.Refuse(&reply.Refusal{
			Status: http.StatusNotFound, Param: "input",
			Message: "an item with this id was not found: this provider keeps none",
		})
	default:
		i.Fail("type", "no such type of item")
	}
}
