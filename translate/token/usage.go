package token

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Usage counts the tokens of one call. Input excludes the tokens read from and written
// to a cache, as in the messages format. Reasoning is a part of Output.
type Usage struct {
	Input      int64 // input tokens without those of a cache
	CacheRead  int64 // input tokens read from a prompt cache
	CacheWrite int64 // input tokens written to a prompt cache
	Output     int64 // output tokens, reasoning included
	Reasoning  int64 // tokens of Output spent on reasoning
	Known      bool  // whether the provider reported usage

	// Inconsistent is true if the reported counts contradict each other, or those of an
	// earlier event. The counts are then the most expensive reading of them.
	Inconsistent bool

	// CacheWriteLong is the part of CacheWrite that is cached for an hour, Searches the
	// number of web searches of the provider, and Terms what else the answer reports
	// about its billing. They have prices of their own. Searches may be counted before
	// usage is Known.
	CacheWriteLong int64
	Searches       int64
	Terms          Terms

	// Beside are further runs of models for the same answer, which the provider charges
	// and the other counts do not include; nil for none.
	Beside []Run
}

// Run is the usage of one run of a model within a call, such as the compaction of a
// conversation before its answer. It has no runs of its own.
type Run struct {
	Usage
	Model string // as the answer names it; empty for the model of the call
}

// Plus returns the usage of two calls together, without Terms and Beside. It is unknown if one
// of them is.
func (u Usage) Plus(other Usage) Usage {
	if !u.Known || !other.Known {
		return Usage{}
	}
	return Usage{
		Input:      sum(u.Input, other.Input),
		CacheRead:  sum(u.CacheRead, other.CacheRead),
		CacheWrite: sum(u.CacheWrite, other.CacheWrite),
		Output:     sum(u.Output, other.Output),
		Reasoning:  sum(u.Reasoning, other.Reasoning),
		Known:      true,

		Inconsistent: u.Inconsistent || other.Inconsistent,

		CacheWriteLong: sum(u.CacheWriteLong, other.CacheWriteLong),
		Searches:       sum(u.Searches, other.Searches),
	}
}

// TotalInput returns the number of input tokens including cached ones: prompt_tokens
// in the chat and completions formats.
func (u Usage) TotalInput() int64 { return sum(u.Input, u.CacheRead, u.CacheWrite) }

// Total returns the number of all tokens: total_tokens in the chat and completions
// formats.
func (u Usage) Total() int64 { return sum(u.TotalInput(), u.Output) }

// Charged returns the number of all tokens, those of further runs included.
func (u Usage) Charged() int64 {
	total := u.Total()
	for i := range u.Beside {
		total = sum(total, u.Beside[i].Total())
	}
	return total
}

// maxCount bounds counts and their sums. Clients that read numbers as doubles cannot
// represent all larger ones.
const maxCount = 1 << 53

// sum adds counts, up to maxCount. Negative counts are 0.
func sum(counts ...int64) (total int64) {
	for _, n := range counts {
		total = min(total+bounded(n), maxCount)
	}
	return total
}

// bounded returns the valid count nearest to n.
func bounded(n int64) int64 { return min(max(n, 0), maxCount) }

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
