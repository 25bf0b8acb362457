package catalog

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// abilities returns what is known of the abilities of a model.
func abilities(facts *models.Facts) (a modelcard.Abilities) {
	a.Media = wordsOf(facts.Value("in"), "none")
	a.Efforts = wordsOf(facts.Value("efforts"), "refused")
	style, _, _ := strings.Cut(facts.Value("thinking"), ":")
	switch {
	case !models.IsSwitch(style):
	case len(a.Efforts) > 0:
		style = "effort"
	default:
		style = "adaptive"
	}
	switch style {
	case "":
	case "none":
		a.Thinking = []string{}
	case "always":
		a.Thinking = []string{"adaptive"}
	case "adaptive+budget":
		a.Thinking = []string{"adaptive", "enabled"}
	case "budget":
		a.Thinking = []string{"enabled"}
	default:
		a.Thinking = []string{style}
	}
	if schema := facts.Value("schema"); schema != "" {
		a.Schemas = new(schema == "strict" || schema == "alone")
	}
	return a
}

// wordsOf returns the words of a list: nil for an unknown one, and none for the word for
// an empty list.
func wordsOf(list, empty string) []string {
	switch list {
	case "":
		return nil
	case empty:
		return []string{}
	}
	return strings.Fields(list)
}
