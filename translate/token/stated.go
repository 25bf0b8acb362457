package token

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// StatedCost is the cost of a call that its provider states in the usage of its answer.
type StatedCost struct {
	Nanos int64 // billionths of a US dollar
	Known bool
	// Doubtful is true if an amount was ignored, because it is none, below 0, or more than
	// any call costs.
	Doubtful bool
}

// maxStatedCost is the largest cost of a call that is believed, in US dollars.
const maxStatedCost = 1000

// statedCosts are the members of usage objects that state what a call costs, in all formats of
// the services that have them.
var statedCosts = []Row{
	{Path: "cost", Is: CostUSD},                // OpenRouter, in credits, each of which is a dollar
	{Path: "cost.total_cost", Is: CostUSD},     // Perplexity
	{Path: "estimated_cost", Is: CostUSD},      // DeepInfra
	{Path: "cost_in_usd_ticks", Is: CostTicks}, // xAI
	{Path: "is_byok", Is: CostIsFee},           // OpenRouter: a host is paid with a key of the account
	{Path: "cost_details.upstream_inference_cost", Is: CostOfHost},
}

// WithStatedCosts returns the rows of a format and statedCosts.
func WithStatedCosts(rows ...Row) *Rows { return NewRows(append(rows, statedCosts...)...) }

// costReport contains what the usage objects of an answer state about its cost.
type costReport struct {
	StatedCost
	fee  bool  // the host is paid in addition
	host int64 // what the host charges, in nanos
}

// ticksPerNano is the number of ticks in a billionth of a US dollar: a dollar has 10^10.
const ticksPerNano = 10

// read reads the member at the cursor. Later values replace earlier ones.
func (r *costReport) read(c *jsonscan.Cursor, is Meaning) {
	if is == CostIsFee {
		fee, ok := c.Bool()
		if !ok {
			c.Skip()
		}
		r.fee = fee
		return
	}
	if c.Null() {
		return
	}
	raw, ok := c.Number()
	if !ok {
		c.Skip()
	}
	amount := jsonscan.ParseFloat(raw)
	nanos := amount * 1e9
	if is == CostTicks {
		nanos = amount / ticksPerNano
	}
	if !ok || !(nanos >= 0 && nanos <= maxStatedCost*1e9) {
		r.Doubtful = true
		return
	}
	if whole := int64(math.Floor(nanos + 0.5)); is == CostOfHost {
		r.host = whole
	} else {
		r.Nanos, r.Known = whole, true
	}
}

// cost returns the cost of the call.
func (r *costReport) cost() StatedCost {
	stated := r.StatedCost
	if stated.Known && r.fee {
		stated.Nanos += r.host
	}
	return stated
}
