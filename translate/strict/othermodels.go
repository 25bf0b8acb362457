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

// CheckTool notes the tool at the path if tools of its type ask further models. kind is
// the type as it is written, nil for none.
func (p *Pass) CheckTool(kind []byte) {
	if kind == nil {
		return
	}
	kind = jsonscan.DecodedOf(kind)
	if slices.ContainsFunc(otherModelTools, func(prefix []byte) bool { return bytes.HasPrefix(kind, prefix) }) {
		p.noteOtherModels(p.path.String())
	}
}

// noteOtherModels notes the first field that names further models.
func (p *Pass) noteOtherModels(path string) {
	if p.View.OtherModels == "" {
		p.View.OtherModels = path
	}
}
