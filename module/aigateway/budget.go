package aigateway

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Budget is an amount of money per period. The zero Budget means no rule.
type Budget struct {
	// Micros is the amount, in millionths of the unit of the currency: 0 to
	// 1000000000000 (10^12). A budget of 0 admits what costs nothing.
	Micros int64 `json:"micros"`

	// Currency is the currency of the amount, in three upper-case letters. A price in
	// another currency counts as unknown. Default: "USD".
	Currency string `json:"currency,omitempty"`

	// Per is the length of the period: 1s to 8784h, which are 366 days. It applies to
	// every period of that length. Either Per or Calendar is set.
	Per caddy.Duration `json:"per,omitempty"`

	// Calendar is a period of the calendar, in the time zone of the ledger: "day",
	// "week" from Monday on, "month", or "total" for all time.
	Calendar Calendar `json:"calendar,omitempty"`

	// Soft admits requests that exceed the budget, with a warning in the log and a
	// header in the answer. Default: false: such requests are refused.
	Soft bool `json:"soft,omitempty"`
}

// Calendar is a period of the calendar.
type Calendar string

// The periods of the calendar.
const (
	Daily   Calendar = "day"
	Weekly  Calendar = "week"
	Monthly Calendar = "month"
	Total   Calendar = "total"
)

// DefaultCurrency is the currency of budgets and prices that do not set one.
const DefaultCurrency = "USD"

var (
	errBudget   = errors.New("a budget is an amount from 0 to 1000000, a slash, and a period from 1s to 366d or day, week, month or total: 50/month")
	errCurrency = errors.New("a currency has three upper-case letters: EUR")

	currency = regexp.MustCompile(`^[A-Z]{3}$`)
	amount   = regexp.MustCompile(`^[0-9]{1,7}(\.[0-9]{1,6})?$`)
)

// ParseBudget parses a budget: an amount per period, such as "50/30d" or "0.50/day", and then
// perhaps a currency and "soft".
func ParseBudget(words ...string) (b Budget, err error) {
	if len(words) == 0 {
		return b, errBudget
	}
	if b, err = parseAmount(words[0]); err != nil {
		return b, fmt.Errorf("%w, not '%s'", err, words[0])
	}
	rest := words[1:]
	if len(rest) > 0 && rest[0] != "soft" {
		if CheckCurrency(rest[0]) != nil {
			return b, fmt.Errorf("'%s' is neither soft nor a currency, which has three upper-case letters", rest[0])
		}
		b.Currency, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 && rest[0] == "soft" {
		b.Soft, rest = true, rest[1:]
	}
	if len(rest) > 0 {
		return b, fmt.Errorf("'%s' is too much: what may follow the budget is a currency, and then soft", rest[0])
	}
	return b, nil
}

// parseAmount parses the amount and the period of a budget.
func parseAmount(s string) (b Budget, err error) {
	money, period, _ := strings.Cut(s, "/")
	if !amount.MatchString(money) {
		return b, errBudget
	}
	whole, fraction, _ := strings.Cut(money, ".")
	b.Micros, _ = strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64) // at most 13 digits
	switch c := Calendar(period); c {
	case Daily, Weekly, Monthly, Total:
		b.Calendar = c
	default:
		length, err := caddy.ParseDuration(period)
		if err != nil {
			return b, errBudget
		}
		b.Per = caddy.Duration(length)
	}
	return b, b.check()
}

// Notation returns the budget as ParseBudget reads it: "50/month EUR soft"; empty for none.
func (b *Budget) Notation() string {
	if !b.IsSet() {
		return ""
	}
	text := strconv.FormatFloat(float64(b.Micros)/1e6, 'f', -1, 64) + "/" + b.PeriodName()
	if b.Currency != "" {
		text += " " + b.Currency
	}
	if b.Soft {
		text += " soft"
	}
	return text
}

func (b *Budget) check() error {
	if b.Micros < 0 || b.Micros > maxAmount || (b.Calendar == "") != isPeriod(b.Per) || b.Calendar != "" && b.Per != 0 {
		return errBudget
	}
	switch b.Calendar {
	case "", Daily, Weekly, Monthly, Total:
	default:
		return errBudget
	}
	return CheckCurrency(b.Currency)
}

// CheckCurrency returns an error unless s is empty or has three upper-case letters.
func CheckCurrency(s string) error {
	if s != "" && !currency.MatchString(s) {
		return errCurrency
	}
	return nil
}

// CountsAs reports whether the budget counts the same money in the same periods as another one. The
// amounts may differ.
func (b *Budget) CountsAs(other *Budget) bool {
	return b.Per == other.Per && b.Calendar == other.Calendar && b.Unit() == other.Unit()
}

// IsSet reports whether there is a budget, which may be one of 0.
func (b *Budget) IsSet() bool { return b.Per != 0 || b.Calendar != "" }

// Nanos returns the amount in billionths of the unit of its currency.
func (b *Budget) Nanos() int64 { return b.Micros * 1000 }

// Unit returns the currency of the budget.
func (b *Budget) Unit() string { return cmp.Or(b.Currency, DefaultCurrency) }

// String returns the budget in words: "50 USD per month".
func (b *Budget) String() string {
	text := Cost{Nanos: b.Nanos(), Currency: b.Unit()}.String()
	switch {
	case b.Calendar == Total:
		return text + " in total"
	case b.Calendar != "":
		return text + " per " + string(b.Calendar)
	}
	return text + " per " + words(time.Duration(b.Per))
}

// PeriodName returns the period in the notation of configurations: "month", "30d".
func (b *Budget) PeriodName() string {
	if b.Calendar != "" {
		return string(b.Calendar)
	}
	return words(time.Duration(b.Per))
}

// words returns a period in the notation of configurations: "30d", "1h30m".
func words(period time.Duration) string {
	const day = 24 * time.Hour
	if period%day == 0 {
		return strconv.FormatInt(int64(period/day), 10) + "d"
	}
	text := period.String()
	for _, zero := range [...]string{"0s", "0m"} {
		if short, found := strings.CutSuffix(text, zero); found && short[len(short)-1] > '9' {
			text = short
		}
	}
	return text
}

// Since returns the time from which costs count in the budget at a time, in the time zone
// of the moment. It returns zero if all costs count.
func (b *Budget) Since(moment time.Time) time.Time {
	if b.Calendar == "" {
		return moment.Add(-time.Duration(b.Per))
	}
	begin, _ := b.Period(moment)
	return begin
}

// Period returns the calendar period that contains a time, in its time zone. Both
// results are zero for Total, and without a Calendar.
func (b *Budget) Period(moment time.Time) (begin, end time.Time) {
	date := func(year int, month time.Month, day int) time.Time {
		return DayBegin(year, month, day, moment.Location())
	}
	year, month, day := moment.Date()
	switch b.Calendar {
	case Daily:
		return date(year, month, day), date(year, month, day+1)
	case Weekly:
		monday := day - (int(moment.Weekday())+6)%7
		return date(year, month, monday), date(year, month, monday+7)
	case Monthly:
		return date(year, month, 1), date(year, month+1, 1)
	}
	return begin, end
}
