// Package tables contains what is known about the models of services: their facts and prices, from
// the tables that are compiled in and from a file of the operator, which takes precedence row by
// row.
//
// The file is read again after a change. If it contains a mistake, the whole file is refused, and
// its previous rows stay valid.
package tables

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// Content is what a file contains. It does not change.
type Content struct {
	Models *models.Table
	Prices *prices.Table
}

// Columns are the names of the columns of a file: those of facts and those of prices.
var Columns = func() []string {
	all := slices.Clone(models.Columns)
	for _, name := range prices.Columns {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}()

// required is the number of the first columns, which a file has.
const required = 2

var errEmptyRow = errors.New("the row has neither a price nor a fact")

// Read reads a file. Each row has the facts of models, their prices, or both. The error contains all
// mistakes, each in a line of its own with its place.
func Read(r io.Reader) (Content, error) {
	rows, err := modeltable.Read(r, Columns, Columns[:required])
	if err != nil {
		return Content{}, err
	}
	var facts, priced []modeltable.Row
	var failures []error
	for _, row := range rows {
		hasFacts, hasPrice := models.HasFacts(row), prices.HasPrice(row)
		if hasFacts {
			facts = append(facts, row)
		}
		if hasPrice {
			priced = append(priced, row)
		}
		if !hasFacts && !hasPrice {
			failures = append(failures, row.Locate([]error{errEmptyRow})...)
		}
	}
	content := Content{}
	var inFacts, inPrices error
	content.Models, inFacts = models.FromSheet(facts, models.Builtin())
	content.Prices, inPrices = prices.FromSheet(priced)
	return content, errors.Join(modeltable.Errors(failures), inFacts, inPrices)
}

// CheckJumps returns an error if the file has prices that differ so much from those of the previous
// file, nil for none, or else of the built-in table, that they are probably mistakes.
func (c *Content) CheckJumps(previous *Content) error {
	return c.Prices.CheckJumps(time.Now(), previous.prices(), prices.Builtin())
}

// Tables are the built-in tables and those of a file, if there is one. A nil *Tables has the
// built-in ones.
type Tables struct {
	content atomic.Pointer[Content]
}

// New returns the built-in tables and those of a file, nil for none.
func New(file *Content) *Tables {
	t := new(Tables)
	t.content.Store(file)
	return t
}

// Open reads the file at a path, which may contain placeholders. Until the context ends, it
// reads the file again after each change. Open returns an error if the file cannot be read
// or is invalid.
func Open(ctx context.Context, path string, logger *zap.Logger) (*Tables, error) {
	t := new(Tables)
	file := filewatch.File{Path: path, Name: "catalog file", Parts: "rows", Logger: logger, Accept: t.accept}
	if err := file.Start(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// accept parses the file. It keeps the previous content if the text is invalid.
func (t *Tables) accept(text []byte) error {
	content, err := Read(bytes.NewReader(text))
	if err == nil {
		err = content.CheckJumps(t.File())
	}
	if err == nil {
		t.content.Store(&content)
		metrics.SetPricesTime("file", content.Prices.Newest())
	}
	return err
}

// File returns the content of the file, nil if there is none.
func (t *Tables) File() *Content {
	if t == nil {
		return nil
	}
	return t.content.Load()
}

// facts returns the facts of a file, which may be nil.
func (c *Content) facts() *models.Table {
	if c == nil {
		return nil
	}
	return c.Models
}

// prices returns the prices of a file, which may be nil.
func (c *Content) prices() *prices.Table {
	if c == nil {
		return nil
	}
	return c.Prices
}

// oldAge is the age from which on tables probably lack models and prices that services have changed.
const oldAge = 60 * 24 * time.Hour

// AsOf returns the date of the newest row, and reports whether the tables are older than 60 days.
func (t *Tables) AsOf(now time.Time) (newest time.Time, old bool) {
	for _, date := range []time.Time{
		models.Builtin().Newest(), prices.Builtin().Newest(), t.File().facts().Newest(), t.File().prices().Newest(),
	} {
		if date.After(newest) {
			newest = date
		}
	}
	return newest, now.Sub(newest) > oldAge
}
