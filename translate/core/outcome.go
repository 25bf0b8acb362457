package core

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Fate is what becomes of a field when its request is translated.
type Fate uint8

// The fates.
const (
	Kept    Fate = iota // carried over with its meaning
	Hinted              // left out and reported: the field does not affect the text of the answer
	Shaped              // left out or changed, and reported: the field shapes the answer
	Refused             // the request is refused: without the field it would ask for something else
)

// outcome is what a writer does with a concept. The zero outcome is that of a
// concept which the writer's format cannot express.
type outcome uint8

const (
	lost    outcome = iota // the reader's row decides the fate
	kept                   // written with its meaning
	changed                // written in another form, which is reported as shaping
	dropped                // left out, which is reported as a hint whatever the row is
	refused                // the request is refused
)

// fate returns what becomes of the field of a row under an outcome.
func (r *Row) fate(o outcome) Fate {
	if r.Concept == Nothing {
		return r.Lost
	}
	switch o {
	case kept:
		return Kept
	case changed:
		return Shaped
	case dropped:
		return Hinted
	case refused:
		return Refused
	default:
		return r.Lost
	}
}

// Outcome is a row of a writer's table: the outcome of a concept, and the rules by
// which traits change the outcome.
type Outcome struct {
	outcome  outcome
	rules    []Rule
	byWriter bool
}

// Outcomes is the table of a writer. Concepts that are not in it are lost.
type Outcomes [conceptCount]Outcome

// Entry is the outcome of some concepts.
type Entry struct {
	concepts []Concept
	outcome  Outcome
}

// NewOutcomes returns the table with these entries.
func NewOutcomes(entries ...Entry) (table Outcomes) {
	for _, e := range entries {
		for _, c := range e.concepts {
			table[c] = e.outcome
		}
	}
	return table
}

// Keep returns the entry of concepts that the format can express.
func Keep(concepts ...Concept) Entry { return Entry{concepts, Outcome{outcome: kept}} }

// Lose returns the entry of concepts that the format cannot express. Concepts without
// rules need no such entry.
func Lose(concepts ...Concept) Entry { return Entry{concepts, Outcome{outcome: lost}} }

// Change returns the entry of concepts that are written in another form.
func Change(concepts ...Concept) Entry { return Entry{concepts, Outcome{outcome: changed}} }

// Drop returns the entry of concepts that mean nothing in the format. Their fields are
// left out, which is reported as a hint.
func Drop(concepts ...Concept) Entry { return Entry{concepts, Outcome{outcome: dropped}} }

// Refuse returns the entry of concepts without which the answer would be another one than the
// client asks for, even if its row accepts the loss.
func Refuse(concepts ...Concept) Entry { return Entry{concepts, Outcome{outcome: refused}} }

// Unless returns the entry with rules. The first rule that holds decides instead, so
// a rule with the outcome of the entry itself overrides those that follow it:
// Lose(TopK).Unless(NoSampling, Extension("top_k")) keeps TopK for providers with the
// extension, but not if these take no sampling fields.
func (e Entry) Unless(rules ...Rule) Entry {
	e.outcome.rules = rules
	return e
}

// ByWriter returns the entry of options that the writer passes to Keep itself, since
// their fate depends on other parts of the request. They stay in the Options until
// then.
func (e Entry) ByWriter() Entry {
	e.outcome.byWriter = true
	return e
}

// Rule changes an outcome for the providers that have a trait. The first rule
// that holds counts.
type Rule struct {
	trait   string // name and value, as a configuration writes them
	outcome outcome
	holds   func(*trait.Traits) bool
}

// name returns the name of the trait.
func (r *Rule) name() string {
	name, _, _ := strings.Cut(r.trait, " ")
	return name
}

// KeepIf returns the rule of providers that can express a concept. The trait is
// written as in a configuration: its name and a value.
func KeepIf(trait string, holds func(*trait.Traits) bool) Rule { return Rule{trait, kept, holds} }

// LoseIf returns the rule of providers that cannot express a concept.
func LoseIf(trait string, holds func(*trait.Traits) bool) Rule { return Rule{trait, lost, holds} }

// ChangeIf returns the rule of providers that get a concept in another form.
func ChangeIf(trait string, holds func(*trait.Traits) bool) Rule {
	return Rule{trait, changed, holds}
}

// DropIf returns the rule of providers whose operator leaves a concept out.
func DropIf(trait string, holds func(*trait.Traits) bool) Rule {
	return Rule{trait, dropped, holds}
}

// RefuseIf returns the rule of providers to which a concept must not be sent.
func RefuseIf(trait string, holds func(*trait.Traits) bool) Rule {
	return Rule{trait, refused, holds}
}

// under returns the outcome under these traits.
func (o *Outcome) under(traits *trait.Traits) outcome {
	for i := range o.rules {
		if o.rules[i].holds(traits) {
			return o.rules[i].outcome
		}
	}
	return o.outcome
}

// takes reports whether a writer gets the concept under these traits.
func (o *Outcome) takes(traits *trait.Traits) bool {
	outcome := o.under(traits)
	return outcome == kept || outcome == changed
}

// keeping returns the name of the trait that makes the writer keep a concept, "" if
// no trait does.
func (o *Outcome) keeping(traits *trait.Traits) string {
	for i := range o.rules {
		if o.rules[i].holds(traits) && o.rules[i].outcome == kept && o.outcome != kept {
			return o.rules[i].name()
		}
	}
	return ""
}

// replacing returns the name of the trait under which the writer gets another form of a concept
// that it keeps otherwise, and nothing of its parts; "" if there is none.
func (o *Outcome) replacing() string {
	for i := range o.rules {
		if o.rules[i].outcome == changed && o.outcome == kept {
			return o.rules[i].name()
		}
	}
	return ""
}

// holding returns the name of the trait whose rule holds, "" for none.
func (o *Outcome) holding(traits *trait.Traits) string {
	for i := range o.rules {
		if o.rules[i].holds(traits) {
			return o.rules[i].name()
		}
	}
	return ""
}

// deciding returns the name of the first trait by which the field of a row would be refused, or
// would not, "" if there is none.
func (o *Outcome) deciding(r *Row) string {
	for i := range o.rules {
		if (r.fate(o.rules[i].outcome) == Refused) != (r.fate(o.outcome) == Refused) {
			return o.rules[i].name()
		}
	}
	return ""
}
