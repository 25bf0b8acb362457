package request

import (
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// properties are what requests depend on that only the name of a model states: the API has no
// other way to ask for it.
type properties struct {
	version float64 // of the family: 2.5; 0 if the name states none
	pro     bool
	lite    bool
}

// latest is the version of the models behind names such as gemini-flash-latest.
const latest = 3.7

// propertiesOf returns the properties of the model with a name: "gemini-2.5-flash-lite",
// "models/gemini-3-pro-preview". Other families are models without a version.
func propertiesOf(name string) (p properties) {
	rest, ok := strings.CutPrefix(idOf(name), "gemini-")
	if !ok {
		return p
	}
	version, _, _ := strings.Cut(rest, "-")
	if v, err := strconv.ParseFloat(version, 64); err == nil && v > 0 && v < 100 {
		p.version = v
	} else if strings.HasSuffix(rest, "-latest") {
		p.version = latest
	}
	p.pro, p.lite = strings.Contains(rest, "pro"), strings.Contains(rest, "lite")
	return p
}

// tuned is the collection of models that a customer has tuned.
const tuned = "tunedModels"

// collectionOf returns the collection in which the API has a model.
func collectionOf(name string) string {
	if strings.HasPrefix(name, tuned+"/") {
		return tuned
	}
	return "models"
}

// idOf returns the name of a model without its collection.
func idOf(name string) string { return strings.TrimPrefix(name, collectionOf(name)+"/") }

// takesJSONSchema reports whether schemas may be sent as they are. Other models accept only
// the members of Schema in the API.
func (p properties) takesJSONSchema() bool { return p.version >= 2.5 }

// fetches reports whether the model accepts addresses on the web.
func (p properties) fetches() bool { return p.version >= 2.5 }

// signs reports whether the model refuses calls of the current turn without the signature
// that it gave them, and whether the results of calls repeat the ids of the calls.
func (p properties) signs() bool { return p.version >= 3 }

// asked returns how the model is asked to think: by a budget, by a level, or not at all. The name
// of the model states it unless its budgets or its levels are known.
func (p properties) asked(traits *trait.Traits) (byBudget, byLevel bool) {
	switch {
	case traits.ThinkingBudget.Most > 0:
		return true, false
	case traits.ReasoningEffort != 0:
		return false, !unthinking(traits)
	default:
		return p.version >= 2.5 && p.version < 3, p.version >= 3
	}
}

// budget returns the nearest budget of thinking, in tokens, that the model accepts. A budget
// of 0 turns thinking off, but for models that always think. The name of the model states the
// bounds unless they are known.
func (p properties) budget(n int64, traits *trait.Traits) int64 {
	always := p.pro || traits.Thinking == trait.ThinkingAlways
	switch {
	case traits.ThinkingBudget.Most == 0:
		return p.budgetByName(n)
	case n <= 0 && !always:
		return 0
	default:
		return traits.ThinkingBudget.Clamp(n)
	}
}

func (p properties) budgetByName(n int64) int64 {
	switch {
	case p.pro:
		return min(max(n, 128), 32768)
	case n <= 0:
		return 0
	case p.lite:
		return min(max(n, 512), 24576)
	default:
		return min(n, 24576)
	}
}

// level returns the level of thinking for an effort: the nearest of those that the model accepts,
// or the least if the model is not to think. The name of the model states the levels unless levels
// are known.
func (p properties) level(effort core.Concept, levels trait.Efforts) string {
	least := core.EffortOf(max(effort, core.EffortMinimal))
	if levels != 0 {
		return levels.Nearest(least).String()
	}
	return p.levelByName(least.String())
}

func (p properties) levelByName(effort string) string {
	switch effort {
	case "minimal":
		if p.pro || p.version >= 4 || p.version >= latest && !p.lite {
			return "low"
		}
	case "medium":
		if p.pro && p.version < 3.1 {
			return "high"
		}
	case "xhigh", "max":
		return "high"
	}
	return effort
}

// ModelName returns the name of a model as bodies of requests state it.
func ModelName(name string) string { return collectionOf(name) + "/" + idOf(name) }
