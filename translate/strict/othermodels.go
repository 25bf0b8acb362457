package strict

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// otherModels are the fields with which providers, and gateways that are configured as
// providers, let a request name further models: lists of models, models to fall back to,
// stored settings, plugins, and options that such a service passes on.
var otherModels = names(
	"models", "model_list", "route", "preset", "plugins",
	"fallback", "fallbacks", "fallback_model", "fallback_models", "fallback_config",
	"default_fallbacks", "context_window_fallbacks", "content_policy_fallbacks",
	"extra_body", "providerOptions",
)

// otherModelTools are the beginnings of the types of tools that ask further models.
var otherModelTools = names("advisor_", "openrouter:")

func names(all ...string) (list [][]byte) {
	for _, name := range all {
		list = append(list, []byte(name))
	}
	return list
}

// otherModelsName returns the name of the field with which a member, whatever its letter
// case, names further models; "" for other members.
func otherModelsName(member []byte) string {
	i := slices.IndexFunc(otherModels, func(name []byte) bool { return bytes.EqualFold(name, member) })
	if i < 0 {
		return ""
	}
	return string(otherModels[i])
}

// Member is that of the cursor. It also notes the type of a tool at the path, and searches
// the tools in an object within the body, so that the pass of no format can forget either.
// What a pass skips or copies as a whole, such as schemas and arguments, is not searched.
func (p *Pass) Member() bool {
	if !p.Cursor.Member() {
		return false
	}
	switch name := p.Name(); {
	case isType(name) && p.path.inTools():
		value := jsonscan.Again(p.body[p.Offset():])
		if asksModels(value.StringOrSkip()) {
			p.noteOtherModels(p.path.String())
		}
	case isTools(name) && p.path.len > 0:
		p.searchToolsAhead()
	}
	return true
}

// inTools reports whether the path is that of an element of tools.
func (p *path) inTools() bool {
	n := p.len
	return n >= 2 && n <= maxSteps && p.steps[n-1].name == "" && p.steps[n-2].name == "tools"
}

// isType reports whether providers that ignore letter case read a member as type.
func isType(name []byte) bool {
	return len(name) == len("type") && name[0]|0x20 == 't' && bytes.EqualFold(name, []byte("type"))
}

// isTools reports whether providers that ignore letter case read a member as tools.
func isTools(name []byte) bool {
	return len(name) >= len("tools") && name[0]|0x20 == 't' && bytes.EqualFold(name, []byte("tools"))
}

// searchToolsAhead searches the tools at the cursor, which stays where it is. The pass
// refuses a body that the search misreads.
func (p *Pass) searchToolsAhead() {
	if p.View.OtherModels == "" {
		tools := jsonscan.Again(p.body[p.Offset():])
		p.searchTools(&tools)
	}
}

// searchTools notes the first tool of an array that asks further models.
func (p *Pass) searchTools(c *jsonscan.Cursor) {
	p.Push("tools")
	c.OpenArray()
	for i := 0; c.Element(); i++ {
		p.PushIndex(i)
		p.searchTool(c)
		p.Pop()
	}
	p.Pop()
}

// searchTool searches a tool, and the tools in it. Providers differ in which of several
// members named type they read.
func (p *Pass) searchTool(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch name := c.Name(); {
		case isTools(name):
			p.searchTools(c)
		case !isType(name):
			c.Skip()
		case asksModels(c.StringOrSkip()):
			p.noteOtherModels(p.path.String())
		}
	}
}

// asksModels reports whether tools of a type, as it is written, ask further models.
func asksModels(kind []byte) bool {
	if kind == nil {
		return false
	}
	kind = bytes.TrimSpace(jsonscan.DecodedOf(kind))
	return slices.ContainsFunc(otherModelTools, func(prefix []byte) bool {
		return len(kind) >= len(prefix) && bytes.EqualFold(kind[:len(prefix)], prefix)
	})
}

// noteOtherModels notes the first field that names further models.
func (p *Pass) noteOtherModels(path string) {
	if p.View.OtherModels == "" {
		p.View.OtherModels = path
	}
}
