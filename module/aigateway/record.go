package aigateway

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Record is the usage of one exchange: who asked for what, how it ended, and what it
// used. It never has a part of a prompt or of an answer.
type Record struct {
	ID       int64     // given by the ledger; a later exchange has a larger one
	Admitted time.Time // given by the ledger; decides about prices and periods

	Request   string // id of the request, as its response headers have it
	Key       string // id of the key
	User      string // name of the user that the key belongs to; empty without one
	Limit     string // name of the limit of the key
	Model     string // as the client named it
	Operation string // "generate", "count_tokens"
	Format    string // wire format of the client
	Stream    bool
	Status    int    // that the client got; 0 if it got none
	Outcome   string // "answered", "failed", ...

	FirstByte time.Duration // until the first byte of the answer; 0 without one
	Duration  time.Duration
	Calls     []Call // of providers, in their order; the last one decided the outcome
}

// Call is the usage of one call of a provider.
type Call struct {
	Provider string // name in the configuration
	Model    string // the provider's own name
	Answered string // model that the provider names in its answer
	Format   string // wire format that was spoken to the provider
	Status   int    // of the provider; 0 before it answers

	Source Source // where the counts come from
	Tokens Tokens
	Terms  token.Terms // what else the answer reports about its billing

	// Price identifies the price that Cost was computed with, for people. It is empty
	// if the price is unknown: then Cost is 0, and means nothing.
	Price string
	Cost  Cost
	// Held is what budgets count while the cost is unknown.
	Held Cost
}

// Cost is an amount of money, in billionths of the unit of its currency.
type Cost struct {
	Nanos    int64
	Currency string // "USD"; empty if nothing is known
}

// String returns the amount with at most six decimals, rounded up: "2.5 USD".
func (c Cost) String() string {
	micros := c.Nanos/1000 + min(1, c.Nanos%1000)
	text := strconv.FormatInt(micros/1_000_000, 10)
	if fraction := micros % 1_000_000; fraction != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%06d", fraction), "0")
	}
	return text + " " + c.Currency
}

// Tokens are the counts of a call. They do not overlap.
type Tokens struct {
	Input          int64 // that no cache has
	CacheRead      int64
	CacheWrite     int64
	CacheWriteLong int64 // to a cache that lives for an hour
	Output         int64 // reasoning excluded
	Reasoning      int64
	Searches       int64 // of the web, by the provider
}

// Source is where the counts of a call come from.
type Source uint8

// The sources.
const (
	SourceNone      Source = iota // nothing was used
	SourceProvider                // the provider reported them
	SourcePartial                 // reported in part, the rest estimated; or reported with contradictions, of which the most expensive reading holds
	SourceEstimated               // estimated from what was relayed
	SourceReserved                // unknown; Held is what was reserved
)

// OutcomeCrashed is the outcome of an exchange that the process did not survive.
const OutcomeCrashed = "crashed"
