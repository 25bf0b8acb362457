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
	if p.otherModels == "" {
		tools := jsonscan.Again(p.body[p.JSON.Offset():])
		p.searchTools(&tools)
	}
}

// searchTools notes the first tool of an array, or in a tool, that asks further models.
// Providers differ in which of several members named type they read.
func (p *Pass) searchTools(c *jsonscan.Cursor) {
	p.push("tools")
	c.OpenArray()
	for i := 0; c.Element(); i++ {
		p.pushIndex(i)
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
		p.pop()
	}
	p.pop()
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
	if p.otherModels == "" {
		p.otherModels = path
	}
}
