package token

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Usage is the usage of one call, as its provider reports it.
type Usage struct {
	Counts
	Known bool // whether the provider reported usage; Searches may be counted before

	// Inconsistent is true if the reported counts contradict each other, or those of an
	// earlier event. The counts are then the most expensive reading of them.
	Inconsistent bool

	// Billed is true if Searches is the number of searches that the provider states to charge.
	Billed bool

	// Units are what the answer contains or reports beside tokens. They may be known although
	// the usage is not.
	Units Units

	// Terms are what else the answer reports about its billing.
	Terms Terms

	// Stated is the cost of the call that the answer states, whoever its provider is.
	Stated StatedCost

	// Beside are further runs of models for the same answer, which the provider charges
	// and the other counts do not include; nil for none.
	Beside []Run
}

// Run is the usage of one run of a model within a call, such as the compaction of a
// conversation before its answer. It has no runs of its own.
type Run struct {
	Usage Usage
	Model string // as the answer names it; empty for the model of the call
}

// Plus returns the usage of two calls together, without Units, Terms, Stated and Beside. It is unknown if one
// of them is.
func (u Usage) Plus(other Usage) Usage {
	if !u.Known || !other.Known {
		return Usage{}
	}
	return Usage{Counts: u.Add(other.Counts), Known: true, Inconsistent: u.Inconsistent || other.Inconsistent}
}

// Charged returns the number of all tokens, those of further runs included.
func (u Usage) Charged() int64 {
	total := u.Total()
	for i := range u.Beside {
		total = sum(total, u.Beside[i].Usage.Total())
	}
	return total
}

// ReadCount reads the count at the cursor. A value that is not an integer, or is
// negative, is ignored, and count keeps its value: nothing may be subtracted from a bill. It
// reports whether the value is negative.
func ReadCount(c *jsonscan.Cursor, count *int64) (negative bool) {
	n, exact, ok := c.Int()
	switch {
	case !ok:
		c.Skip()
	case exact && n >= 0:
		*count = bounded(n)
	}
	return ok && n < 0
}

// CountOf returns a raw value that is a count, 0 for one that is none.
func CountOf(raw []byte) int64 {
	n, _ := jsonscan.Integer(raw)
	return bounded(n)
}
