package responses

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

func (r *reader) tools() {
	r.body.Each("tools", func(t wire.Object) { r.tool("", t) })
	if r.body.Has("parallel_tool_calls") {
		r.Choice.Single = !r.body.Flag("parallel_tool_calls")
	}
}

func (r *reader) tool(namespace string, t wire.Object) {
	switch kind := t.Need("type"); kind {
	case "function", "custom":
		r.clientTool(namespace, kind, t)
	case "namespace":
		t.Known("type", "name", "description", "tools")
		name := t.Need("name")
		t.Each("tools", func(inner wire.Object) { r.tool(name, inner) })
	default:
		r.serverTool(kind, t)
	}
}

func (r *reader) clientTool(namespace, kind string, t wire.Object) {
	t.Known("type", "name", "description", "parameters", "strict", "format",
		"defer_loading", "output_schema", "async", "allowed_callers")
	name := t.Need("name")
	if len(name) > 64 || strings.Trim(name, openai.NameLetters) != "" {
		t.Fail("name", "must match ^[a-zA-Z0-9_-]{1,64}$")
	}
	t.Sub("parameters")
	t.Sub("format")
	t.Flag("strict")
	r.AddTool(reply.Tool{
		Namespace: namespace, Name: name, Schema: t.Raw("parameters"), Custom: kind == "custom",
	}, t.Definition())
}

// serverTools are the beginnings of the types of tools that are not called by
// name; many types end with a date.
var serverTools = []string{
	"web_search", "file_search", "code_interpreter", "image_generation", "mcp", "computer",
	"local_shell", "shell", "apply_patch", "tool_search", "programmatic_tool_calling",
}

func (r *reader) serverTool(kind string, t wire.Object) {
	if t.Strict() && !hasAnyPrefix(kind, serverTools) {
		t.Fail("type", "no such type of tool")
	}
	r.AddTool(reply.Tool{Name: kind, Server: true}, t.Definition())
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

func (r *reader) toolChoice() {
	if !r.body.Has("tool_choice") {
		return
	}
	if wire.Quoted(r.body.Raw("tool_choice")) {
		r.Choice.Mode = openai.ChoiceModes[r.body.OneOf("tool_choice", "none", "auto", "required")]
	} else {
		r.namedChoice()
	}
	if r.Choice.Mode == reply.ChoiceAny && !r.Offers(r.Choice.Name) {
		r.body.Fail("tool_choice", "no such tool is offered")
	}
}

// namedChoice reads a choice of one tool, or of several. A server tool cannot be
// demanded here: nobody could run it.
func (r *reader) namedChoice() {
	c, _ := r.body.Sub("tool_choice")
	switch c.Need("type") {
	case "function", "custom":
		r.Choice.Mode, r.Choice.Name = reply.ChoiceAny, c.Need("name")
	case "allowed_tools":
		r.Choice.Mode = openai.ChoiceModes[c.OneOf("mode", "auto", "required")]
		c.Items("tools")
	}
}
