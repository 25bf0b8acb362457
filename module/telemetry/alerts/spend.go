package alerts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Sum is the spend of a name in a period, or that of all names.
type Sum struct {
	Name      string `json:"name,omitempty"`
	Others    int64  `json:"others,omitempty"` // the number of names that Sum adds up, if it has no own name
	Requests  int64  `json:"requests"`
	CostMicro int64  `json:"cost_micro"` // rounded half up
	Currency  string `json:"currency"`
	Floor     bool   `json:"floor,omitempty"` // CostMicro is a lower bound, because some costs are unknown

	// Previous is the cost in the period before; nil if it is not known.
	Previous *int64 `json:"before_micro,omitempty"`
}

// Period is a kind of period that is reported.
type Period struct {
	Name string // "daily", as webhooks name it
	Unit string // "day", as budgets name it
	time string // "in the week "
}

// Periods are the periods that are reported.
var Periods = [...]Period{{"daily", "day", "on "}, {"weekly", "week", "in the week "}, {"monthly", "month", "in the month "}}

// PeriodOf returns the period with a name; ok is false if there is none.
func PeriodOf(name string) (p Period, ok bool) {
	for _, p := range Periods {
		if p.Name == name {
			return p, true
		}
	}
	return p, false
}

// SpendBy are the dimensions of a report, in the order of its text. Each is a member of the data, with its sums.
var SpendBy = [...]string{"limit", "user", "key", "model", "provider"}

// spendLasts is the time behind a period in which its report is not sent again. It is longer than
// the time in which gateways look for a report that was missed.
const spendLasts = 100 * 24 * time.Hour

// spendText returns the report of a period in words: the totals, and a line for each member of
// SpendBy.
func spendText(d data) string {
	period, _ := PeriodOf(d.value("period"))
	totals, _ := d["totals"].([]Sum)
	var requests int64
	var amounts []string
	for _, total := range totals {
		requests += total.Requests
		if total.Currency != "" || total.Floor || len(totals) == 1 {
			amounts = append(amounts, total.amount())
		}
	}
	var text strings.Builder
	plural := "s"
	if requests == 1 {
		plural = ""
	}
	fmt.Fprintf(&text, "Spend %s%s (%s): %s for %d request%s. Changes are to the %s before.",
		period.time, days(d), d.value("zone"), strings.Join(amounts, " and "), requests, plural, period.Unit)
	for _, dimension := range SpendBy {
		sums, _ := d[dimension].([]Sum)
		if len(sums) == 0 || len(sums) == 1 && sums[0].Name == "" {
			continue // such as that of a gateway without limits
		}
		lines := make([]string, len(sums))
		for i, sum := range sums {
			lines[i] = sum.name() + " " + sum.amount()
		}
		fmt.Fprintf(&text, "\nBy %s: %s.", dimension, strings.Join(lines, ", "))
	}
	return text.String()
}

// days returns the days of a period: the only one, or the first and the last one.
func days(d data) string {
	from, _ := time.Parse(time.RFC3339, d.value("from"))
	to, _ := time.Parse(time.RFC3339, d.value("to"))
	first, last := from.Format(time.DateOnly), to.Add(-time.Second).Format(time.DateOnly)
	if first == last {
		return first
	}
	return "from " + first + " to " + last
}

// mostName bounds the bytes of a name in a text.
const mostName = 80

// harmless replaces what chats take for mentions and links, and a reader for the next name: clients choose
// names of models.
var harmless = strings.NewReplacer("<", "‹", ">", "›", "@", "@\u200b", "://", ":\u200b//", "](", "]\u200b(", "www.", "www\u200b.", ",", "‚")

// visible replaces characters that are not printed, and those that change lines or the direction of a text.
func visible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// name returns the name for a text.
func (s Sum) name() string {
	switch {
	case s.Others > 0:
		return strconv.FormatInt(s.Others, 10) + " others"
	case s.Name == "":
		return "(none)"
	}
	return harmless.Replace(strings.Map(visible, strings.ToValidUTF8(s.Name[:min(len(s.Name), mostName)], "")))
}

// amount returns the cost with its change: "12.34 USD (+5 %)".
func (s Sum) amount() string {
	if s.Floor && s.CostMicro == 0 {
		return "an unknown amount"
	}
	decimals := 2
	if s.CostMicro < 100_000 {
		decimals = 6
	}
	text := strings.TrimSpace(strconv.FormatFloat(float64(s.CostMicro)/1e6, 'f', decimals, 64) + " " + s.Currency)
	if s.CostMicro == 0 {
		text = "0"
	}
	if s.Floor {
		text = "at least " + text
	}
	switch {
	case s.Previous == nil:
		return text
	case *s.Previous > 0:
		return text + fmt.Sprintf(" (%+.0f %%)", math.Round(100*float64(s.CostMicro-*s.Previous)/float64(*s.Previous)))
	case s.CostMicro > 0:
		return text + " (new)"
	}
	return text
}
