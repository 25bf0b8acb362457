package prices

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
)

//go:embed prices.csv
var builtin []byte

// Builtin returns the table that is compiled in.
var Builtin = sync.OnceValue(func() *Table {
	table, err := Parse(bytes.NewReader(builtin))
	if err != nil {
		panic(err) // tests parse this table
	}
	for _, list := range table.index.All {
		for _, p := range list {
			p.Origin.builtin = true
		}
	}
	return table
})

// Table is a table of prices, which does not change. A nil *Table is empty.
type Table struct{ index modeltable.Index[[]*Price] }

// add adds the price of a row, or returns its mistakes. It refuses a price that holds for the
// same name and at the same time as another one.
func (t *Table) add(row *fields) (failures []error) {
	p, failures := row.price()
	if failures != nil {
		return failures
	}
	for _, name := range p.Models {
		known, _ := t.index.Get(p.Provider, name)
		if slices.ContainsFunc(known, func(q *Price) bool { return p.Period.overlaps(q.Period) }) {
			failures = append(failures, &modeltable.CellError{Column: "models", Err: fmt.Errorf("%s has two prices for %s at once", p.Provider, name)})
			continue
		}
		t.index.Set(p.Provider, name, append(slices.Clip(known), p))
	}
	return failures
}

// Find returns the price of a provider's model at a time, nil if it is unknown. An exact
// name takes precedence over a prefix, and a longer prefix over a shorter one. In the table that
// is compiled in, "*" stands for a version of a model, and not for another model.
func (t *Table) Find(provider, name string, at time.Time) *Price {
	if t == nil {
		return nil
	}
	list, version, _ := t.index.Find(provider, name)
	if p := validAt(list, at); p != nil && !(p.Origin.builtin && modeltable.IsOtherModel(version)) {
		return p
	}
	return nil
}

func validAt(prices []*Price, at time.Time) *Price {
	for _, p := range prices {
		if p.Period.contains(at) {
			return p
		}
	}
	return nil
}

// Names returns the names in the table, those with "*" included, in no order.
func (t *Table) Names() (names []modeltable.Key) {
	for name := range t.index.All {
		names = append(names, name)
	}
	return names
}

// Newest returns the newest AsOf of the prices, or zero if no price has one.
func (t *Table) Newest() (newest time.Time) {
	if t == nil {
		return newest
	}
	for _, list := range t.index.All {
		for _, p := range list {
			if date, err := time.Parse(time.DateOnly, p.Origin.AsOf); err == nil && date.After(newest) {
				newest = date
			}
		}
	}
	return newest
}
