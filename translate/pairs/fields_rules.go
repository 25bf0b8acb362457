package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// The rules of the tables: what a trait makes of a field.

func rule(fate Fate, trait string, holds func(*translate.Traits) bool) Rule {
	return Rule{Trait: trait, Fate: fate, Holds: holds}
}

// sampling is the rule of providers that take fewer of the sampling fields.
func sampling(to translate.Format, value translate.Sampling, word string) Rule {
	return rule(Shaped, "sampling "+word, func(t *translate.Traits) bool { return t.SamplingFor(to) == value })
}

func noSampling(to translate.Format) Rule { return sampling(to, translate.SamplingNone, "none") }

// oneSampling is about top_p beside a temperature.
func oneSampling(to translate.Format) Rule { return sampling(to, translate.SamplingOne, "one") }

// extension is the rule of providers that take a further field.
func extension(to translate.Format, fate Fate, name string) Rule {
	return rule(fate, "extensions "+name, func(t *translate.Traits) bool { return t.Extension(to, name) })
}

// boundedAnswer is the rule of models that give no longer answer than that.
var boundedAnswer = rule(Shaped, "max_output_tokens 1", func(t *translate.Traits) bool { return t.MaxOutputTokens > 0 })

// The rules of chat providers.
var (
	noUser        = rule(Hinted, "user_field none", func(t *translate.Traits) bool { return t.UserField == translate.UserFieldNone })
	suffixInWords = rule(Shaped, "suffix instruct", func(t *translate.Traits) bool { return t.InstructSuffix })
)

// oneCall is the rule of what becomes several calls.
var oneCall = rule(Refused, "max_fan_out 1", func(t *translate.Traits) bool { return t.FanOut() == 1 })

// The rules of completions providers.
var (
	noTemplate = rule(Refused, "prompt_template none", func(t *translate.Traits) bool { return t.PromptTemplate == translate.TemplateNone })
)
