package prices

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
)

// Parse reads a table. Its first line names the columns, in any order:
//
//	provider, models     the names separated by spaces, "*" at the end of one for any text
//	from, until          the first day of the price, and the first day after it, in UTC;
//	                     empty if unknown
//	input, output        for a million tokens; empty in a row that has the price of a unit: 0
//	cache_read, cache_write    empty: the price of input
//	cache_write_1h       empty: the price of cache_write
//	reasoning            empty: the price of output
//	image_input, image_output    for a million tokens of images; empty: the prices of input and output
//	image_cache_read     empty: as much less than image_input as cache_read than input
//	audio_input, audio_cache_read, audio_output    the same for tokens of sound
//	search               for one web search, or one query of a rerank; empty if unknown, 0 if they are free
//	image                for one image; empty if images are not charged
//	minute               for a minute of sound, charged by the second; empty: not charged
//	characters           for a million characters of spoken text; empty: not charged
//	edge                 ">200000" or ">=200000": for longer prompts, all tokens have the prices
//	                     input_above, output_above and so on
//	peak, peak_factor    "mon-fri 01:00-04:00,06:00-10:00", in UTC, and the factor of the price
//	                     at these times
//	flex, batch, priority, ultrafast    the factor of the price in this service tier,
//	fast, us             at this speed, and in this region; empty if unknown
//	regional             at endpoints of regions; empty: 1
//	currency             empty: USD
//	as_of, source, note  the origin of the price
//	confirmed            "yes" for a price that is correct, although it is probably a mistake
//
// All columns but provider, models, input and output may be missing. Unless a row is
// confirmed, Parse refuses it if it is probably a mistake: if the output costs less than a
// quarter of the input, or if reading the cache costs more than the input. Parse ignores a
// byte order mark, with which spreadsheets begin a file. The error contains all mistakes, each in
// a line of its own.
func Parse(r io.Reader) (*Table, error) {
	rows, err := modeltable.Read(r, Columns, Columns[:required])
	if err != nil {
		return nil, err
	}
	return FromSheet(rows)
}

// FromSheet returns a table with the prices in the rows of a file; see Parse. The rows may have
// other columns, too. The error contains all mistakes.
func FromSheet(rows []modeltable.Row) (*Table, error) {
	t := new(Table)
	var failures []error
	for i := range rows {
		failures = append(failures, rows[i].Locate(t.add(fieldsOf(rows[i].Cells)))...)
	}
	return t, modeltable.Errors(failures)
}

// HasPrice reports whether a row of a file contains a price.
func HasPrice(row modeltable.Row) bool {
	return slices.ContainsFunc(Columns[required-2:], func(name string) bool { return row.Cells[name] != "" && !describes[name] })
}

// describes contains the columns that do not make a row one with a price.
var describes = map[string]bool{"as_of": true, "source": true, "note": true, "confirmed": true}

// FromRows returns a table with the prices of one provider. A row contains the fields of a
// price by column: see Parse.
func FromRows(provider string, rows []map[string]string) (*Table, error) {
	t := new(Table)
	for i, row := range rows {
		f := fieldsOf(row)
		f.cells["provider"] = provider
		if err := modeltable.CheckColumns(slices.Sorted(maps.Keys(f.cells)), Columns, Columns[:required]); err != nil {
			return nil, fmt.Errorf("price %d: %w", i+1, err)
		}
		if failures := t.add(f); failures != nil {
			return nil, fmt.Errorf("price %d: %w", i+1, failures[0])
		}
	}
	return t, nil
}

// Columns are the names of all columns.
var Columns = strings.Fields(`provider models input output from until cache_read cache_write cache_write_1h reasoning image_input image_cache_read image_output audio_input audio_cache_read audio_output search image minute characters
	edge input_above cache_read_above cache_write_above cache_write_1h_above output_above
	peak peak_factor flex batch priority ultrafast fast us regional currency as_of source note confirmed`)

// required is the number of the first columns, which a table of prices has.
const required = 4

// fields contains a row by its columns, and its errors.
type fields struct {
	cells    map[string]string
	noTokens bool // the row has prices of units alone
	failures []error
}

// fieldsOf returns the fields of a row.
func fieldsOf(cells map[string]string) *fields {
	f := &fields{cells: maps.Clone(cells)}
	f.leaveOutTokens()
	return f
}

// leaveOutTokens sets prices of input and output that are empty to 0 if there is one of a unit.
func (f *fields) leaveOutTokens() {
	if f.cells["image"]+f.cells["minute"]+f.cells["characters"] == "" {
		return
	}
	f.noTokens = f.cells["input"]+f.cells["output"] == ""
	for _, name := range [...]string{"input", "output"} {
		f.cells[name] = cmp.Or(f.cells[name], "0")
	}
}

// price returns the price of a row, or its mistakes.
func (f *fields) price() (*Price, []error) {
	confirmed := f.cells["confirmed"] == "yes"
	f.check("confirmed", confirmed || f.cells["confirmed"] == "", errConfirmation)
	p := &Price{
		Provider: f.cells["provider"], Models: strings.Fields(f.cells["models"]),
		Period: Period{From: f.date("from"), Until: f.date("until")},
		Base:   f.rates(), Currency: cmp.Or(f.cells["currency"], "USD"),
		Origin: Origin{AsOf: f.cells["as_of"], Source: f.cells["source"], Note: f.cells["note"], confirmed: confirmed},
	}
	f.check("currency", currency.MatchString(p.Currency), errCurrency)
	f.date("as_of")
	f.withoutEffect()
	if f.cells["edge"] != "" {
		p.Edge, p.Above = f.edge(), f.above(p.Base)
	}
	if f.cells["peak"] != "" {
		var err error
		p.Peak, err = parsePeak(f.cells["peak"], f.factor("peak_factor"))
		f.fail("peak", err)
	}
	p.Factors = f.factors()
	if f.failures == nil {
		f.failures = p.check()
	}
	if f.failures != nil {
		return nil, f.failures
	}
	p.id = p.digest()
	p.name = strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s/%s%s %s #%s",
		p.Provider, p.Models[0], p.Currency, f.cells["input"], f.cells["output"], f.units(), p.Origin.AsOf, p.id[:8])), " ")
	return p, nil
}

// units returns the prices of images and units for the name of a price.
func (f *fields) units() (text string) {
	for _, name := range [...]string{"image_input", "image_output", "audio_input", "audio_output", "image", "minute", "characters"} {
		if f.cells[name] != "" {
			text += " " + name + " " + f.cells[name]
		}
	}
	return text
}

// fail keeps an error of a column.
func (f *fields) fail(name string, err error) {
	if err != nil {
		f.failures = append(f.failures, &modeltable.CellError{Column: name, Err: err})
	}
}

// check fails with an error if the value of a column is not valid.
func (f *fields) check(name string, valid bool, err error) {
	if !valid {
		f.fail(name, err)
	}
}

func (f *fields) date(name string) time.Time {
	if f.cells[name] == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.DateOnly, f.cells[name])
	f.check(name, err == nil, errDate)
	return t
}

// needed contains the columns without which others have no effect.
var needed = map[string]string{
	"input_above": "edge", "cache_read_above": "edge", "cache_write_above": "edge", "cache_write_1h_above": "edge", "output_above": "edge",
	"peak_factor": "peak",
}

// withoutEffect fails if a column has a value without the one that it needs.
func (f *fields) withoutEffect() {
	for _, name := range Columns {
		if needs := needed[name]; needs != "" && f.cells[name] != "" && f.cells[needs] == "" {
			f.fail(name, fmt.Errorf("has no effect without %s", needs))
		}
	}
}

// rates reads the columns without a suffix.
func (f *fields) rates() (r Rates) {
	r.Fresh = f.rate("input", 0)
	r.CacheRead = f.rate("cache_read", r.Fresh)
	r.CacheWrite = f.rate("cache_write", r.Fresh)
	r.CacheWriteLong = f.rate("cache_write_1h", r.CacheWrite)
	r.Answer = f.rate("output", 0)
	r.Reasoning = f.rate("reasoning", r.Answer)
	r.OfImages, r.OfAudio = f.media("image", r), f.media("audio", r)
	r.Search, r.Unknown = f.optional("search", perPiece), f.unknownParts()
	r.UnitRates = UnitRates{Image: f.optional("image", perPiece), Minute: f.optional("minute", perPiece), Character: f.optional("characters", perMillion)}
	return r
}

// above reads the columns that end with _above. A price that is not stated has risen like that
// of the input, or of the output.
func (f *fields) above(base Rates) Rates {
	r := base
	r.Fresh = f.rate("input_above", 0)
	r.CacheRead = f.rate("cache_read_above", scaled(base.CacheRead, base.Fresh, r.Fresh))
	r.CacheWrite = f.rate("cache_write_above", scaled(base.CacheWrite, base.Fresh, r.Fresh))
	r.CacheWriteLong = f.rate("cache_write_1h_above", scaled(base.CacheWriteLong, base.CacheWrite, r.CacheWrite))
	r.Answer = f.rate("output_above", 0)
	r.Reasoning = scaled(base.Reasoning, base.Answer, r.Answer)
	r.OfImages, r.OfAudio = base.OfImages.risen(base, r), base.OfAudio.risen(base, r)
	return r
}

// media reads the columns of tokens of a medium. Those that are empty are as the prices of all tokens.
func (f *fields) media(name string, r Rates) (m MediaRates) {
	m.Input, m.Output = f.rate(name+"_input", r.Fresh), f.rate(name+"_output", r.Answer)
	m.CacheRead = f.rate(name+"_cache_read", scaled(r.CacheRead, r.Fresh, m.Input))
	return m
}

// risen returns the rates of a medium that have risen like those of all tokens.
func (r MediaRates) risen(base, long Rates) MediaRates {
	return MediaRates{scaled(r.Input, base.Fresh, long.Fresh), scaled(r.CacheRead, base.Fresh, long.Fresh), scaled(r.Output, base.Answer, long.Answer)}
}

// scaled returns a rate that rises like another one, rounded half up.
func scaled(rate, from, to Rate) Rate {
	if from == 0 {
		return to
	}
	high, low := bits.Mul64(uint64(rate), uint64(to))
	low, carry := bits.Add64(low, uint64(from)/2, 0)
	if high += carry; high >= uint64(from) {
		return math.MaxInt64
	}
	n, _ := bits.Div64(high, low, uint64(from))
	return Rate(min(n, math.MaxInt64))
}

// optional reads a price for a unit, which is 0 if it is empty.
func (f *fields) optional(name string, unit int64) Rate {
	if f.cells[name] == "" {
		return 0
	}
	rate, err := parseRate(f.cells[name], unit)
	f.fail(name, err)
	return rate
}

// rate reads a price for a million tokens. If it is empty, rate returns the default. The
// prices of input and output are required.
func (f *fields) rate(name string, byDefault Rate) Rate {
	if f.cells[name] == "" && !strings.HasPrefix(name, "input") && !strings.HasPrefix(name, "output") {
		return byDefault
	}
	rate, err := parseRate(f.cells[name], perMillion)
	f.fail(name, err)
	return rate
}

var (
	errDate         = errors.New("must be a date: 2026-11-30")
	errCurrency     = errors.New("a currency has three upper-case letters: EUR")
	errConfirmation = errors.New(`the only value is "yes"`)

	currency = regexp.MustCompile(`^[A-Z]{3}$`)
)

var errEdge = errors.New(`an edge is ">" or ">=" and a number of tokens`)

// edge reads the number of tokens from which on a prompt is long.
func (f *fields) edge() int64 {
	number, ok := strings.CutPrefix(f.cells["edge"], ">")
	number, inclusive := strings.CutPrefix(number, "=")
	n, err := strconv.ParseInt(number, 10, 48)
	f.check("edge", err == nil && n >= 1 && ok, errEdge)
	if !inclusive {
		n++
	}
	return n
}

// check returns an error if the price is incomplete, or if it is probably a mistake and not
// confirmed.
func (p *Price) check() []error {
	var failures []error
	cell := func(column, format string, args ...any) {
		failures = append(failures, &modeltable.CellError{Column: column, Err: fmt.Errorf(format, args...)})
	}
	if p.Provider == "" {
		cell("provider", "is required")
	}
	if len(p.Models) == 0 {
		cell("models", "is required")
	}
	if !p.Period.Until.IsZero() && !p.Period.From.Before(p.Period.Until) {
		cell("until", "must be after from")
	}
	for _, name := range p.Models {
		if err := modeltable.CheckName(name); err != nil {
			cell("models", "%w", err)
		}
	}
	if failures != nil || p.Origin.confirmed {
		return failures
	}
	for _, r := range []Rates{p.Base, p.Above} {
		if r.Answer != 0 && r.Answer < r.Fresh/4 {
			cell("output", "%s %s: the output costs less than a quarter of the input%s", p.Provider, p.Models[0], ifCorrect)
		}
		if r.CacheRead > r.Fresh || r.OfImages.CacheRead > r.OfImages.Input || r.OfAudio.CacheRead > r.OfAudio.Input {
			cell("cache_read", "%s %s: reading the cache costs more than the input%s", p.Provider, p.Models[0], ifCorrect)
		}
	}
	return failures
}
