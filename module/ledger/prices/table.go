package prices

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed prices.csv
var builtin []byte

// Builtin returns the table that is compiled in.
var Builtin = sync.OnceValue(func() *Table {
	table, err := Parse(bytes.NewReader(builtin))
	if err != nil {
		panic(err) // tests parse this table
	}
	for _, list := range table.exact {
		for _, p := range list {
			p.builtin = true
		}
	}
	return table
})

// Table is a table of prices, which does not change. A nil *Table is empty.
type Table struct {
	exact    map[model][]*Price  // by the names in the table, those with "*" included
	prefixes map[string][]string // the names with "*", by provider, the longest first
}

type model struct{ provider, name string }

func newTable() *Table {
	return &Table{exact: make(map[model][]*Price), prefixes: make(map[string][]string)}
}

// add adds the price of a row. It refuses a price that holds for the same name and at the
// same time as another one.
func (t *Table) add(row *fields) error {
	p, err := row.price()
	if err != nil {
		return err
	}
	for _, name := range p.Models {
		key := model{p.Provider, name}
		if slices.ContainsFunc(t.exact[key], p.overlaps) {
			return fmt.Errorf("%s has two prices for %s at once", p.Provider, name)
		}
		if strings.HasSuffix(name, "*") && t.exact[key] == nil {
			t.prefixes[p.Provider] = append(t.prefixes[p.Provider], name)
		}
		t.exact[key] = append(t.exact[key], p)
	}
	return nil
}

// sorted returns t when all prices have been added.
func (t *Table) sorted() *Table {
	for _, names := range t.prefixes {
		slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	}
	return t
}

func (p *Price) overlaps(q *Price) bool {
	return (p.Until.IsZero() || q.From.Before(p.Until)) && (q.Until.IsZero() || p.From.Before(q.Until))
}

// Find returns the price of a provider's model at a time, nil if it is unknown. An exact
// name takes precedence over a prefix, and a longer prefix over a shorter one. In the table that
// is compiled in, "*" stands for a version of a model, and not for another model.
func (t *Table) Find(provider, name string, at time.Time) *Price {
	if t == nil {
		return nil
	}
	if list, ok := t.exact[model{provider, name}]; ok {
		return validAt(list, at)
	}
	for _, known := range t.prefixes[provider] {
		if rest, ok := strings.CutPrefix(name, known[:len(known)-1]); ok {
			p := validAt(t.exact[model{provider, known}], at)
			if p != nil && p.builtin && isOtherModel(rest) {
				return nil
			}
			return p
		}
	}
	return nil
}

func validAt(prices []*Price, at time.Time) *Price {
	for _, p := range prices {
		if p.valid(at) {
			return p
		}
	}
	return nil
}

// Newest returns the newest AsOf of the prices, or zero if no price has one.
func (t *Table) Newest() (newest time.Time) {
	for _, list := range t.exact {
		for _, p := range list {
			if date, err := time.Parse(time.DateOnly, p.AsOf); err == nil && date.After(newest) {
				newest = date
			}
		}
	}
	return newest
}
