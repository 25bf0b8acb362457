package aigateway

import (
	"context"
	"time"
)

// LimitViewer is an optional interface of a Limiter that can show the use of its limits.
// Without it, the gateway shows the use of budgets alone, by the ledger.
type LimitViewer interface {
	// View returns the use of each limit by the subject of the key of a demand, in the order
	// of the limits. It changes no count, and does not read the ledger. Demand.Use has no
	// meaning.
	View(ctx context.Context, d Demand) ([]LimitUse, error)
}

// LimitUse is the use of the rules of a limit by one subject. Rules that the limit lacks
// are not used.
type LimitUse struct {
	Requests RuleUse
	Tokens   RuleUse
	Running  int64
	// Money is in billionths of the unit of the currency. It is nil if the counters do not
	// know how much of the budget is used, because they have not decided about it yet.
	Money *RuleUse
}

// RuleUse is the use of a rule in the present period.
type RuleUse struct {
	Used     int64 // by requests that have ended
	Reserved int64 // by running requests, in addition
	// Reset is the time until nothing of the present use counts any more; 0 if nothing is
	// used, or all use counts for ever.
	Reset time.Duration
}

// LimitReader reads the state of limits.
type LimitReader interface {
	// Limits returns a page of the states of limits. It returns an error that wraps
	// ErrUnavailable if the counters or the ledger cannot be read.
	Limits(context.Context, LimitQuery) (LimitPage, error)

	// LimitNames returns the names of the limits of the global option and of all sites,
	// sorted, each once.
	LimitNames() []string

	// Unusable returns why all requests with the key with an id are refused, nil if they are not:
	// its limit is not defined, or its rules cannot be applied.
	Unusable(id string) error

	// CheckTeam returns an error if a site could not apply the limit of a team.
	CheckTeam(*Team) error

	// CheckKey returns an error if a site could not apply the own rules of a key, or if no site
	// lists one of its tags. Of a key that is in use already, the team and the owner need not be
	// set.
	CheckKey(*Key) error

	// CheckUser returns an error if a site could not apply the limit with the own rules of a
	// user, nil for none, to a key of the user.
	CheckUser(name string, limit *Limit) error
}

// LimitQuery selects a page of states. An empty field selects all.
type LimitQuery struct {
	User  string // only of the user and the keys of the user
	Key   string // only of limits that apply to the key with this ID
	Limit string // only of the limit with this name

	// Customer selects the state of limits per customer, which the keys do not have.
	Customer string

	// Own leaves out the limits of groups and of the gateway, whose use is that of others.
	Own bool

	After string // LimitPage.Next of the page before; empty for the first page
	Most  int    // the number of states from which a page ends, at least 1
}

// LimitPage is a page of the states of limits: those of the gateway and of groups, and then
// those of users and keys, by the names of users and the IDs of keys. Next is empty on the
// last page.
type LimitPage struct {
	States []LimitState
	Next   string
}

// LimitState is the state of one rule of a limit for one subject, with the words of the
// configuration. Amounts of money are in millionths of the unit of the currency.
type LimitState struct {
	Limit    string `json:"limit"`   // its name, which is also the name of a group
	Per      Scope  `json:"per"`     // the kind of the subject
	Subject  string `json:"subject"` // its name
	Rule     string `json:"rule"`    // Rule.Word
	Period   string `json:"period"`  // "1m", "month", "total"; empty for concurrent requests
	Amount   int64  `json:"amount"`
	Used     int64  `json:"used"`     // by requests that have ended; money is rounded up
	Reserved int64  `json:"reserved"` // by running requests, in addition; money is rounded up
	Left     int64  `json:"left"`     // what is neither used nor reserved
	Currency string `json:"currency"` // of a budget
	Soft     bool   `json:"soft"`     // the budget refuses nothing

	// Renews is the time at which nothing of the present use counts any more: the beginning
	// of the next period of the calendar, or the end of the last use in a sliding period.
	// Nil if nothing is used in a sliding period, and for what has no period.
	Renews *time.Time `json:"renews_at"`
}

// Share returns the used share of the amount, from 0; that of an amount of 0 is 1.
func (s *LimitState) Share() float64 {
	if s.Amount == 0 {
		return 1
	}
	return float64(s.Used) / float64(s.Amount)
}

// BoundsPerson reports whether the state is that of a budget which refuses the requests of a person: not
// of one for the whole gateway or for labels, whose use is that of others.
func (s *LimitState) BoundsPerson() bool {
	return s.Rule == MoneyBudget.Word() && !s.Soft && (s.Per == PerKey || s.Per == PerUser || s.Per == PerGroup)
}

// FullestBudget returns the index of the state with the largest Share among those for which
// BoundsPerson is true, -1 if there is none.
func FullestBudget(states []LimitState) int {
	fullest := -1
	for i := range states {
		if states[i].BoundsPerson() && (fullest < 0 || states[i].Share() > states[fullest].Share()) {
			fullest = i
		}
	}
	return fullest
}

// ruleWords are the words of the configuration for rules.
var ruleWords = map[Rule]string{RequestRate: "requests", TokenRate: "tokens", ConcurrentRequests: "concurrent", MoneyBudget: "budget"}

// Word returns the word of the configuration for the rule: "requests".
func (r Rule) Word() string { return ruleWords[r] }

// LimitAccounts is an optional interface of Accounts that show the state of limits.
type LimitAccounts interface {
	// UseLimits sets the reader of the limits of all sites with these accounts. It is called
	// at most once, while the configuration is provisioned.
	UseLimits(LimitReader)
}
