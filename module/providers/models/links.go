package models

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
)

// links are the rows that others are like.
type links struct {
	table, base *Table
	origins     map[*Facts]string // provider/model of the row with the values of the empty cells
	begun       map[*Facts]bool   // rows whose empty cells are being filled, or have been
}

var errCircle = errors.New("the row is like a row that is like it")

// complete fills the empty cells of a row: with those of the row that it is like, or, if it is like
// none, with those of the same name in the base. It then sets what follows from
// the cells.
func (l *links) complete(f *Facts) error {
	if f.traits != nil {
		return nil
	}
	if l.begun[f] {
		return &modeltable.CellError{Column: "like", Err: errCircle}
	}
	l.begun[f] = true
	source, err := l.from(f)
	if err != nil {
		return err
	}
	for i, value := range f.cells {
		switch {
		case value == "-":
			f.cells[i] = ""
		case value == "" && source != nil:
			f.cells[i] = source.cells[i]
		}
	}
	f.traits, f.endpoints = traits(f.Value), endpointsOf(f.Value("endpoint"))
	f.end, _ = time.Parse(time.DateOnly, f.Value("shutdown")) // "" or a date
	return nil
}

// from returns the complete row whose cells f takes, nil for none.
func (l *links) from(f *Facts) (*Facts, error) {
	link := l.origins[f]
	switch {
	case link == "" && len(f.Names) == 0: // a mistake of its own
		return nil, nil
	case link == "":
		return l.base.Find(f.Provider, f.Names[0]), nil
	}
	provider, name, _ := strings.Cut(link, "/")
	source := l.table.Find(provider, name)
	if source == nil {
		source = l.base.Find(provider, name)
	}
	if source == nil {
		return nil, &modeltable.CellError{Column: "like", Err: fmt.Errorf("'%s' is no provider/model of a row", link)}
	}
	if source == f {
		return nil, &modeltable.CellError{Column: "like", Err: errCircle}
	}
	if err := l.completed(source); err != nil {
		return nil, err
	}
	return source, nil
}

// completed completes a row that another one is like. Its mistakes are reported in its own line.
func (l *links) completed(source *Facts) error {
	if l.begun[source] && source.traits == nil {
		return &modeltable.CellError{Column: "like", Err: errCircle}
	}
	_ = l.complete(source)
	return nil
}
