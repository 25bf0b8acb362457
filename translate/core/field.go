package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Field is a row of the table of a pair of formats: a field of the client's
// format and what becomes of it.
type Field struct {
	// Name is the name of the reader's Row.
	Name string
	// Fate is the fate of the field if no rule holds.
	Fate Fate
	// Rules are the fates under traits. The first rule that holds replaces Fate.
	Rules []FieldRule
	// Path is the path in the report of the field's loss. Outer is the path of the
	// larger field that is lost as a whole, "" for none.
	Path, Outer string

	swallowed bool // always lost together with the larger field
}

// FieldRule is a fate under a trait.
type FieldRule struct {
	Trait string // name and value, as a configuration writes them
	Fate  Fate
	Holds func(*trait.Traits) bool
}

// Join returns the table of a pair of formats: the fields of the client's format, and
// their fates according to the outcomes of the provider's format.
func Join(source *Source, target *Target) []Field {
	rows := source.Rows.list
	fields := make([]Field, len(rows))
	for i := range rows {
		fields[i] = source.Rows.join(&rows[i], target)
	}
	return fields
}

// join returns the Field of a row.
func (t *Rows) join(r *Row, target *Target) Field {
	f := r.join(&target.Outcomes[r.Concept], target)
	if r.whole != Nothing {
		f.putInto(t.join(t.concepts[r.whole], target))
	}
	return f
}

// putInto marks the field as a part of a larger one: it is lost where larger is.
func (f *Field) putInto(larger Field) {
	own := *f
	if f.swallowed = larger.Fate != Kept; f.swallowed {
		f.Fate, f.Rules = larger.Fate, nil
	}
	for i := range larger.Rules {
		if r := &larger.Rules[i]; r.Fate == Kept {
			r.Fate = own.by(r.Trait)
		}
	}
	f.Rules, f.Outer = append(larger.Rules, f.Rules...), larger.Path
	if larger.swallowed {
		f.Outer = larger.Outer
	}
}

// by returns the fate under a trait, given by its name and value as in a configuration.
func (f *Field) by(trait string) Fate {
	for i := range f.Rules {
		if f.Rules[i].Trait == trait {
			return f.Rules[i].Fate
		}
	}
	return f.Fate
}

func (r *Row) join(o *Outcome, target *Target) Field {
	f := Field{Name: r.Name, Fate: r.fate(o.outcome), Path: r.Path}
	for _, rule := range o.rules {
		f.Rules = append(f.Rules, FieldRule{rule.trait, r.fate(rule.outcome), rule.holds})
	}
	if r.extends() && mayExtend(target, r.Name) {
		f.Rules = append(f.Rules, FieldRule{"extensions " + r.Name, Kept, func(t *trait.Traits) bool { return target.Extends(t, r.Name) }})
	}
	return f
}

// mayExtend reports whether the extensions of a provider may name a member.
func mayExtend(target *Target, name string) bool {
	var traits trait.Traits
	return traits.Set("extensions", name) == nil && target.Extends(&traits, name)
}

// Under returns the fate of the field under these traits.
func (f *Field) Under(traits *trait.Traits) Fate {
	fate := f.Fate
	for i := range f.Rules {
		if f.Rules[i].Holds(traits) {
			fate = f.Rules[i].Fate
			break
		}
	}
	if fate == Shaped && traits.RejectLosses {
		return Refused
	}
	return fate
}
