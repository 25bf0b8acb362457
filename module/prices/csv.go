package prices

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
)

// maxRows is the largest number of rows in a table.
const maxRows = 100_000

// Parse reads a table. Its first line names the columns, in any order:
//
//	provider, models     the names separated by spaces, "*" at the end of one for any text
//	from, until          the first day of the price, and the first day after it, in UTC;
//	                     empty if unknown
//	input, output        for a million tokens
//	cache_read, cache_write    empty: the price of input
//	cache_write_1h       empty: the price of cache_write
//	reasoning            empty: the price of output
//	search               for one web search; empty if unknown
//	edge                 ">200000" or ">=200000": for longer prompts, all tokens have the prices
//	                     input_above, output_above and so on
//	peak, peak_factor    "mon-fri 01:00-04:00,06:00-10:00", in UTC, and the factor of the price
//	                     at these times
//	flex, batch, priority, ultrafast    the factor of the price in this service tier,
//	fast, us             at this speed, and in this region; empty if unknown
//	currency             empty: USD
//	as_of, source, note  the origin of the price
//	confirmed            "yes" lets CheckJumps accept any price
//
// All columns but provider, models, input and output may be missing. Parse refuses a row
// that is probably a mistake: if the output costs less than a quarter of the input, or if
// reading the cache costs more than the input.
func Parse(r io.Reader) (*Table, error) {
	lines := csv.NewReader(r)
	header, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("reading the names of columns: %w", err)
	}
	if err := checkColumns(header, append(slices.Clip(columns), confirmation)); err != nil {
		return nil, err
	}
	var prices []*Price
	confirmed := make(map[*Price]bool)
	for len(prices) < maxRows {
		fields, err := lines.Read()
		if err == io.EOF {
			return newTable(prices, confirmed)
		}
		if err != nil {
			return nil, err
		}
		price, sure, err := row(header, fields).confirmedPrice()
		if err != nil {
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		prices = append(prices, price)
		confirmed[price] = sure
	}
	return nil, fmt.Errorf("a table has at most %d prices", maxRows)
}

// FromRows returns a table with the prices of one provider. A row contains the fields of a
// price by column: see Parse.
func FromRows(provider string, rows []map[string]string) (*Table, error) {
	var prices []*Price
	for i, row := range rows {
		header := slices.Sorted(maps.Keys(row))
		if err := checkColumns(append(header, "provider"), columns); err != nil {
			return nil, fmt.Errorf("price %d: %w", i+1, err)
		}
		f := &fields{of: maps.Clone(row)}
		f.of["provider"] = provider
		price, err := f.price()
		if err != nil {
			return nil, fmt.Errorf("price %d: %w", i+1, err)
		}
		prices = append(prices, price)
	}
	return newTable(prices, nil)
}

// columns are the names of all columns but confirmed. The first four are required.
var columns = strings.Fields(`provider models input output from until cache_read cache_write cache_write_1h reasoning search
	edge input_above cache_read_above cache_write_above cache_write_1h_above output_above
	peak peak_factor flex batch priority ultrafast fast us currency as_of source note`)

const requiredColumns = 4

func checkColumns(header, known []string) error {
	for _, name := range header {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the column %q is unknown; %sa column of prices is input, output, cache_read and so on", name, suggest.DidYouMean(name, known))
		}
	}
	for _, name := range columns[:requiredColumns] {
		if !slices.Contains(header, name) {
			return fmt.Errorf("the column %s is missing", name)
		}
	}
	return nil
}

// fields contains a row by its columns, and the first error.
type fields struct {
	of  map[string]string
	err error
}

// row returns the fields of a line.
func row(header, values []string) *fields {
	f := &fields{of: make(map[string]string, len(header))}
	for i, name := range header {
		f.of[name] = strings.TrimSpace(values[i])
	}
	return f
}

// price returns the price of a row.
func (f *fields) price() (*Price, error) {
	p := &Price{
		Provider: f.of["provider"], Models: strings.Fields(f.of["models"]),
		From: f.date("from"), Until: f.date("until"),
		Base: f.rates(""), Currency: f.of["currency"],
		AsOf: f.of["as_of"], Source: f.of["source"], Note: f.of["note"],
	}
	if p.Currency == "" {
		p.Currency = "USD"
	}
	f.readEdge(p)
	f.readPeak(p)
	p.Factors = f.factors()
	if f.err != nil {
		return nil, f.err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.id = p.digest()
	p.name = strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s/%s %s #%s",
		p.Provider, p.Models[0], p.Currency, f.of["input"], f.of["output"], p.AsOf, p.id[:8])), " ")
	return p, nil
}

// fail keeps the first error.
func (f *fields) fail(name string, err error) {
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (f *fields) date(name string) time.Time {
	if f.of[name] == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.DateOnly, f.of[name])
	f.fail(name, err)
	return t
}

// rates reads the columns whose names end with a suffix, "" or "_above".
func (f *fields) rates(suffix string) (r Rates) {
	r.Fresh = f.rate("input"+suffix, 0)
	r.CacheRead = f.rate("cache_read"+suffix, r.Fresh)
	r.CacheWrite = f.rate("cache_write"+suffix, r.Fresh)
	r.CacheWriteLong = f.rate("cache_write_1h"+suffix, r.CacheWrite)
	r.Output = f.rate("output"+suffix, 0)
	r.Reasoning = r.Output
	if suffix == "" {
		r.Reasoning = f.rate("reasoning", r.Output)
	}
	if f.of["search"] != "" {
		var err error
		r.Search, err = parseRate(f.of["search"], perPiece)
		f.fail("search", err)
	}
	return r
}

// rate reads a price for a million tokens. If it is empty, rate returns the default. The
// prices of input and output are required.
func (f *fields) rate(name string, byDefault Rate) Rate {
	if f.of[name] == "" && !strings.HasPrefix(name, "input") && !strings.HasPrefix(name, "output") {
		return byDefault
	}
	rate, err := parseRate(f.of[name], perMillion)
	f.fail(name, err)
	return rate
}

var errEdge = errors.New(`an edge is ">" or ">=" and a number of tokens`)

func (f *fields) readEdge(p *Price) {
	text := f.of["edge"]
	if text == "" {
		return
	}
	number, inclusive := strings.CutPrefix(text, ">=")
	if !inclusive {
		number = strings.TrimPrefix(text, ">")
	}
	n, err := strconv.ParseInt(number, 10, 48)
	if err != nil || n < 1 || number == text {
		f.fail("edge", errEdge)
	}
	if p.Edge = n; !inclusive {
		p.Edge++
	}
	p.Above = f.rates("_above")
}

func (f *fields) readPeak(p *Price) {
	if f.of["peak"] == "" {
		return
	}
	var err error
	p.Peak, err = parsePeak(f.of["peak"], f.factor("peak_factor"))
	f.fail("peak", err)
}

// check returns an error if the price is incomplete or improbable.
func (p *Price) check() error {
	switch {
	case p.Provider == "" || len(p.Models) == 0:
		return errors.New("provider and models are required")
	case !p.Until.IsZero() && !p.From.Before(p.Until):
		return errors.New("from must be before until")
	}
	for _, name := range p.Models {
		if strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			return fmt.Errorf("%s %s: only the last character of a name may be a *", p.Provider, name)
		}
	}
	for _, r := range []Rates{p.Base, p.Above} {
		if r.Output != 0 && r.Output < r.Fresh/4 {
			return fmt.Errorf("%s %s: the output costs less than a quarter of the input", p.Provider, p.Models[0])
		}
		if r.CacheRead > r.Fresh {
			return fmt.Errorf("%s %s: reading the cache costs more than the input", p.Provider, p.Models[0])
		}
	}
	return nil
}
