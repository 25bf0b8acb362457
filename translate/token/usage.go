package token

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Usage counts the tokens of one call. The counts do not overlap: Input leaves
// out what was read from or written to a cache, as the messages format counts;
// Reasoning is a part of Output.
type Usage struct {
	Input      int64 // fresh input tokens
	CacheRead  int64 // input tokens read from a prompt cache
	CacheWrite int64 // input tokens written to a prompt cache
	Output     int64 // output tokens, reasoning included
	Reasoning  int64 // the part of Output spent on reasoning
	Known      bool  // whether the provider said anything about usage at all
}

// Plus is the usage of two calls together, unknown where that of one is.
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
	}
}

// TotalInput is the number of input tokens, cached ones included: what the
// chat and completions formats call prompt_tokens.
func (u Usage) TotalInput() int64 { return sum(u.Input, u.CacheRead, u.CacheWrite) }

// Total is the number of all tokens: what the chat and completions formats call
// total_tokens.
func (u Usage) Total() int64 { return sum(u.TotalInput(), u.Output) }

// maxCount bounds counts and their sums. Clients that read numbers as doubles
// cannot tell larger ones from their neighbours.
const maxCount = 1 << 53

// sum adds counts, up to maxCount. Negative ones are none.
func sum(counts ...int64) (total int64) {
	for _, n := range counts {
		total = min(total+bounded(n), maxCount)
	}
	return total
}

// bounded returns the count that is nearest to n.
func bounded(n int64) int64 { return min(max(n, 0), maxCount) }

// ReadCount reads the count at the cursor. What is no count, since it is no
// integer or negative, says nothing: the one that was known stays, for nothing
// may ever be subtracted from a bill.
func ReadCount(c *jsonscan.Cursor, count *int64) {
	n, exact, ok := c.Int()
	switch {
	case !ok:
		c.Skip()
	case exact && n >= 0:
		*count = bounded(n)
	}
}
