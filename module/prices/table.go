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
	return table
})

// Table is a table of prices, which does not change. A nil *Table is empty.
type Table struct {
	exact    map[model][]*Price  // by the names in the table, those with "*" included
	prefixes map[string][]prefix // by provider, the longest first

	confirmed map[*Price]bool // the prices with a confirmation, although they are probably mistakes
}

type model struct{ provider, name string }

// prefix contains the prices of all names that begin with a text.
type prefix struct {
	text   string
	prices []*Price
}

func newTable() *Table {
	return &Table{exact: make(map[model][]*Price), prefixes: make(map[string][]prefix), confirmed: make(map[*Price]bool)}
}

// add adds the price of a row. It refuses a price that holds for the same name and at the
// same time as another one.
func (t *Table) add(row *fields) error {
	confirmed := row.confirmed()
	p, err := row.price()
	if err == nil && !confirmed {
		err = p.checkRates()
	}
	if err != nil {
		return err
	}
	t.confirmed[p] = confirmed
	for _, name := range p.Models {
		if err := t.addName(name, p); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns t when all prices have been added.
func (t *Table) sorted() *Table {
	for _, list := range t.prefixes {
		slices.SortFunc(list, func(a, b prefix) int { return len(b.text) - len(a.text) })
	}
	return t
}

func (t *Table) addName(name string, p *Price) error {
	list := t.exact[model{p.Provider, name}]
	for _, other := range list {
		if other.overlaps(p) {
			return fmt.Errorf("%s has two prices for %s at once", p.Provider, name)
		}
	}
	list = append(list, p)
	t.exact[model{p.Provider, name}] = list
	text, isPrefix := strings.CutSuffix(name, "*")
	if !isPrefix {
		return nil
	}
	known := t.prefixes[p.Provider]
	i := slices.IndexFunc(known, func(known prefix) bool { return known.text == text })
	if i < 0 {
		t.prefixes[p.Provider] = append(known, prefix{text, list})
	} else {
		known[i].prices = list
	}
	return nil
}

func (p *Price) overlaps(q *Price) bool {
	return (p.Until.IsZero() || q.From.Before(p.Until)) && (q.Until.IsZero() || p.From.Before(q.Until))
}

// Find returns the price of a provider's model at a time, nil if it is unknown. An exact
// name takes precedence over a prefix, and a longer prefix over a shorter one.
func (t *Table) Find(provider, name string, at time.Time) *Price {
	if t == nil {
		return nil
	}
	if list, ok := t.exact[model{provider, name}]; ok {
		return validAt(list, at)
	}
	for _, known := range t.prefixes[provider] {
		if strings.HasPrefix(name, known.text) {
			return validAt(known.prices, at)
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
