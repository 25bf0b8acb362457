package prices

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
)

// maxJump is the largest ratio of a price and the previous price without a confirmation. A
// larger ratio is probably a mistake, such as a price for a thousand tokens instead of a
// million.
const maxJump = 20

// ifCorrect ends the errors about what is probably a mistake.
const ifCorrect = ": if this is correct, set confirmed to yes"

// CheckJumps returns an error if a price without a confirmation is more than 20 times the
// previous price, or less than a twentieth of it. The previous price is the earlier price of
// the same model in this table, or else in the first of the other tables that has one.
// Prices in another currency are not compared, nor are those that follow a price of 0 or leave
// tokens to the price of a unit. The error contains all such prices, each in a line of its own.
func (t *Table) CheckJumps(now time.Time, earlier ...*Table) error {
	var failures []error
	for name, list := range t.index.All {
		for _, p := range list {
			if old := t.previous(name, p, now, earlier); old != nil && !p.Origin.confirmed && p.Currency == old.Currency {
				if err := jump(name.Name, p, old); err != nil {
					failures = append(failures, err)
				}
			}
		}
	}
	slices.SortFunc(failures, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return modeltable.Errors(failures)
}

// previous returns the previous price of a model, nil if there is none: see CheckJumps.
func (t *Table) previous(name modeltable.Key, p *Price, now time.Time, earlier []*Table) (old *Price) {
	list, _ := t.index.Get(name.Provider, name.Name)
	for _, other := range list {
		if other.Period.From.Before(p.Period.From) && (old == nil || old.Period.From.Before(other.Period.From)) {
			old = other
		}
	}
	for _, table := range earlier {
		if old == nil {
			old = table.Find(name.Provider, name.Name, slices.MaxFunc([]time.Time{now, p.Period.From}, time.Time.Compare))
		}
	}
	return old
}

// jump returns an error if a price differs too much from the old one.
func jump(name string, p, old *Price) error {
	for _, rate := range [...]struct {
		column   string
		old, new Rate
	}{{"input", old.Base.Fresh, p.Base.Fresh}, {"output", old.Base.Answer, p.Base.Answer}} {
		if rate.old > 0 && max(rate.old, rate.new)/maxJump > min(rate.old, rate.new) && (rate.new > 0 || p.Base.UnitRates == (UnitRates{})) {
			return fmt.Errorf("%s %s: %s costs %s for a million tokens, and %s before%s",
				p.Provider, name, rate.column, rate.new.PerMillion(), rate.old.PerMillion(), ifCorrect)
		}
	}
	return nil
}
