package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// templateArguments is the field by which some servers take switches of the
// model's template.
const templateArguments = "chat_template_kwargs"

// The budgets, in tokens, below which thinking counts as low, medium and high.
const (
	lowBudget    = 2048
	mediumBudget = 8192
	highBudget   = 24576
)

// thinking is how much a client wants thought, in the words of its format.
type thinking struct {
	kind   string // "" when the client says nothing
	budget []byte // raw
}

// writeReasoning asks for as much reasoning as the client wants.
func (x *messagesChat) writeReasoning() {
	t := x.readThinking()
	effort, path := x.effortAsked()
	if x.traits.Extension(x.to, templateArguments) {
		x.switchThinking(t.kind)
		if effort != "" {
			x.shaping(path)
		}
		return
	}
	switch {
	case t.kind == "disabled" || t.kind == "between_tools":
		if effort != "" {
			x.shaping(path)
		}
		x.writeEffort(translate.EffortNone, "thinking")
	case t.kind != "" && t.kind != "enabled" && t.kind != "adaptive":
		x.shaping("thinking")
	case effort != "":
		x.writeEffort(translate.EffortOf(effort), path)
	case t.kind == "enabled":
		x.writeEffort(x.effortOfBudget(t.budget), "thinking")
	}
}

func (x *messagesChat) readThinking() (t thinking) {
	if x.request.Thinking == nil || !x.object(x.request.Thinking, "thinking") {
		return t
	}
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			t.kind = textOf(x.option())
		case "budget_tokens":
			t.budget = x.option()
		default:
			x.losses.AddNamed(translate.Hint, "thinking.", name)
			x.options.Skip()
		}
	}
	return t
}

// effortAsked is the effort that holds for the answer, and where it stands.
func (x *messagesChat) effortAsked() (effort, path string) {
	if x.effort != nil {
		return textOf(x.effort), lostMessage + "output_config.effort"
	}
	if x.config.effort == nil {
		return "", ""
	}
	return x.str(x.config.effort, "output_config.effort"), "output_config.effort"
}

// switchThinking turns the thinking of a template on or off, unless the client
// has used that field itself.
func (x *messagesChat) switchThinking(kind string) {
	if kind == "" || x.hasArguments {
		return
	}
	on := "true"
	if kind == "disabled" || kind == "between_tools" {
		on = "false"
	}
	x.field(templateArguments, []byte(`{"enable_thinking":`+on+`}`))
}

// writeEffort writes an effort that the provider takes.
func (x *messagesChat) writeEffort(effort translate.Efforts, path string) {
	if !x.traits.ReasoningEffort.Has(effort) {
		x.shaping(path)
		return
	}
	x.text("reasoning_effort", effort.String())
}

// effortOfBudget is the effort that a budget of thinking amounts to.
func (x *messagesChat) effortOfBudget(raw []byte) translate.Efforts {
	budget, ok := integer(raw)
	if !ok {
		x.invalid("thinking.budget_tokens", "must be an integer")
		return 0
	}
	switch {
	case budget < lowBudget:
		return translate.EffortLow
	case budget < mediumBudget:
		return translate.EffortMedium
	case budget < highBudget, !x.traits.ReasoningEffort.Has(translate.EffortXHigh):
		return translate.EffortHigh
	default:
		return translate.EffortXHigh
	}
}
