package responses

import (
	"slices"
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
	openai.ReadToolChoice(r.body, r.Request, namedChoice)
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
	name := openai.ReadToolName(t)
	t.Sub("parameters")
	t.Sub("format")
	t.Flag("strict")
	r.AddTool(reply.Tool{
		Namespace: namespace, Name: name, Schema: t.Raw("parameters"), Custom: kind == "custom",
	}, t.Definition())
}

// serverTools are the prefixes of types of tools that are not called by name. Many types end
// with a date.
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
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// namedChoice reads a choice of one tool, or of several. The choice of a tool that a provider
// runs itself has no effect, because this provider runs none.
func namedChoice(c wire.Object) reply.ToolChoice {
	switch c.Need("type") {
	case "function", "custom":
		return openai.OneTool(c)
	case "allowed_tools":
		c.Items("tools")
		return openai.ReadAllowedTools(c)
	}
	return reply.ToolChoice{}
}
