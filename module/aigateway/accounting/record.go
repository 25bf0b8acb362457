package accounting

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Record is the usage of one exchange: its key and model, its outcome, and the usage of
// its calls. It never contains a part of a prompt or of an answer.
type Record struct {
	ID       int64     // set by the ledger; later exchanges have larger IDs
	Admitted time.Time // set by the ledger; selects prices and periods

	Request   string // id of the request, as in its response headers
	Key       string // id of the key
	User      string // name of the user of the key; empty for none
	Limit     string // name of the limit of the key
	Model     string // name that the client used
	Operation string // "generate", "count_tokens"
	Format    string // wire format of the client
	Stream    bool
	Status    int    // sent to the client; 0 for none
	Outcome   string // "answered", "failed", ...

	FirstByte time.Duration // until the first byte of the answer; 0 without one
	Duration  time.Duration
	Calls     []Call // of providers, in their order; the last one decided the outcome

	// Attempts are the targets whose turn it was, in their order. They are empty if the only
	// attempt answered; see Course.
	Attempts []Attempt
	// Choice is why the target of the last call was asked: "weight", "session", "split", "cost",
	// "latency", "trial", "condition", "budget", "rests", "busy", "limited", "unsuitable",
	// "fallback", "repeated", "object", "socket" or "hedge". It is empty for the first target of the
	// configuration, for an exchange without a call, and for a record of an earlier version.
	Choice string
	// Losses are the names of the fields of the request that its translation left out, and
	// AnswerLosses those of the answer, as far as they were known at its end. "?"
	// replaces a name that a client or a provider chose.
	Losses, AnswerLosses []string
	// Batch is the number of requests of a batch by their ends, once they are known. The calls of its
	// record are then sums over the answers, each with a price of its own.
	Batch BatchCounts
	// Unchecked are the names of the guards that have let texts pass although they could not
	// check them, as their configuration demands.
	Unchecked []string
	// Reason is why the exchange was not answered: what the log has of the fault, at most 512
	// bytes, without words of the request or of a provider. It is empty if it was answered.
	Reason string

	aigateway.Labels
}

// OperationBatch is the operation of the record of a batch, which is that of the request that has
// created it.
const OperationBatch = "batch"

// BatchCounts are the requests of a batch that have ended, by how they ended.
type BatchCounts struct{ Succeeded, Errored, Canceled, Expired int64 }

// The bounds of the lists of a record.
const (
	MostAttempts = 16
	MostLosses   = 16 // of the request, and of the answer
)

// Attempt is a target whose turn it was: one that was called, or passed over.
type Attempt struct {
	Provider string // name in the configuration
	Model    string // the provider's own name
	Format   string // wire format of the request to the provider; empty if the target was passed over
	// End is how the call ended: "answered", "cached", "refused", "unreachable", "cut",
	// "client_closed", "lost" to another call that had content first, or the kind of the fault, such as "timeout" or "overloaded". For a
	// target that was passed over it is "rests", "busy", "unsuitable", "costly", "limited" or
	// "unmet".
	End      string
	Status   int           // of the provider; 0 if it has not answered
	Duration time.Duration // until the end of the call; 0 if the target was passed over
}

// answered is the outcome of an exchange with a whole answer, and the end of its last call.
const answered = "answered"

// Cached is the end of an attempt whose answer the cache of answers had: no provider was called.
const Cached = "cached"

// Course returns the attempts of the exchange, also of one whose only attempt answered:
// its duration is that of the exchange. It returns none if they are unknown.
func (r *Record) Course() []Attempt {
	if len(r.Attempts) > 0 || r.Outcome != answered || len(r.Calls) == 0 {
		return r.Attempts
	}
	last := &r.Calls[len(r.Calls)-1]
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Provider != last.Provider || c.Status != last.Status {
			return nil // a record of an earlier version
		}
	}
	end := answered
	if last.Source == SourceCached {
		end = Cached
	}
	return []Attempt{{Provider: last.Provider, Model: last.Model, Format: last.Format, End: end, Status: last.Status, Duration: r.Duration}}
}

// Call is the usage of one call of a provider.
type Call struct {
	Provider string // name in the configuration
	Model    string // the provider's own name
	Answered string // model that the provider names in its answer
	Format   string // wire format of the request to the provider
	Status   int    // of the provider; 0 if it has not answered

	Source Source // of the counts
	Tokens token.Counts
	Terms  token.Terms // other facts in the answer that change its cost
	Finish Finish      // why a whole answer ended
	// Units are what the call is charged for beside tokens. They are zero if there are none, or if
	// the record is of an earlier version.
	Units token.Units

	// Price is the name of the price by which Cost was computed, for people; empty if no price
	// was used.
	Price string
	// Cost is what is known of the cost, by CostSource. It is 0 if nothing is known.
	Cost       aigateway.Cost
	CostSource CostSource
	// Saved is what the call would have cost, in nanos of the currency of Cost, if the cache of
	// answers had not had the answer; 0 if that is unknown, and for other calls.
	Saved int64
	// Held is the amount that budgets count, in addition to Cost, for what is unknown of the cost.
	Held aigateway.Cost
	// Corrected is true if Price and Cost were corrected after the end of the exchange.
	Corrected bool
}

// KnownUnits returns the units of the call, nil if they are unknown.
func (c *Call) KnownUnits() *token.Units {
	if c.Units == (token.Units{}) {
		return nil
	}
	return &c.Units
}

// Costing returns what is known of the cost of the call, and where it comes from.
func (c *Call) Costing() Costing {
	switch {
	case c.Source == SourceNone, c.Source == SourceCached:
		return CostingNone
	case c.CostSource == CostStated:
		return CostingStated
	case c.CostSource == CostInPart:
		return CostingFloor
	case c.Price == "":
		return CostingUnknown
	}
	return CostingPrice
}

// Priced reports whether the whole cost of the call is known. A call that used nothing costs
// nothing.
func (c *Call) Priced() bool {
	costing := c.Costing()
	return costing != CostingUnknown && costing != CostingFloor
}

// CostSource is where the cost of a call comes from, as its record has it.
type CostSource uint8

// The sources of costs.
const (
	CostByPrice CostSource = iota // Price; the cost is unknown without one
	CostInPart                    // Price, which has no price for a part of the usage: Cost is a lower bound
	CostStated                    // the provider states it in its answer
)

// Costing is what is known of the cost of a call, in the words of answers.
type Costing string

// The costings.
const (
	CostingNone    Costing = "none"     // nothing was used, or the cache of answers had the answer
	CostingUnknown Costing = "unknown"  // there is no price
	CostingPrice   Costing = "price"    // computed by the price
	CostingFloor   Costing = "floor"    // computed by the price, without a part whose price is unknown
	CostingStated  Costing = "provider" // stated by the provider
)

// Source is the source of the counts of a call.
type Source uint8

// The sources.
const (
	SourceNone      Source = iota // nothing was used
	SourceProvider                // the provider reported them
	SourcePartial                 // reported in part, the rest estimated; or contradictory, and read in the most expensive way
	SourceEstimated               // estimated from the relayed bytes
	SourceReserved                // unknown; Held is the reserved amount
	SourceCached                  // of the answer that the cache of answers had: nothing was used
)

// sources are the names of the sources.
var sources = [...]string{
	SourceNone: "none", SourceProvider: "provider", SourcePartial: "partial", SourceEstimated: "estimated", SourceReserved: "reserved", SourceCached: "cached",
}

// String returns the name of the source in answers and metrics, such as "provider"; "unknown"
// for a source of a later version.
func (s Source) String() string {
	if int(s) < len(sources) {
		return sources[s]
	}
	return "unknown"
}

// Finish is why the turn of a whole answer ended, in the words of no format.
type Finish uint8

// The reasons.
const (
	FinishUnknown  Finish = iota // the answer does not state it, or it is in a record of an earlier version
	FinishStop                   // by itself, or at a stop sequence
	FinishLength                 // at a bound: of tokens, of the context, of time
	FinishTools                  // with calls of tools
	FinishFiltered               // the provider or the model refused
	FinishPaused                 // it may be continued
)

// finishes are the names of the reasons.
var finishes = [...]string{
	FinishStop: "stop", FinishLength: "length", FinishTools: "tools", FinishFiltered: "filtered", FinishPaused: "paused",
}

// String returns the name of the reason in answers, such as "length"; "" for FinishUnknown and a
// reason of a later version.
func (f Finish) String() string {
	if int(f) < len(finishes) {
		return finishes[f]
	}
	return ""
}

// OutcomeCrashed is the outcome of an exchange that was running when the process crashed.
const OutcomeCrashed = "crashed"

// MirrorKey is the key in the records of requests that the gateway has copied to the mirror of a
// model. Their cost is that of the operator: no key of a client can have this id, and no user.
const MirrorKey = "(mirror)"

// OutcomeImported is the outcome of a record with money that was spent before the gateway was
// used: no request, but an amount that counts in budgets.
const OutcomeImported = "imported"
