package translate

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
		Input:      u.Input + other.Input,
		CacheRead:  u.CacheRead + other.CacheRead,
		CacheWrite: u.CacheWrite + other.CacheWrite,
		Output:     u.Output + other.Output,
		Reasoning:  u.Reasoning + other.Reasoning,
		Known:      true,
	}
}

// TotalInput is the number of input tokens, cached ones included: what the
// chat and completions formats call prompt_tokens.
func (u Usage) TotalInput() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// maxCount bounds counts so that sums of them cannot overflow.
const maxCount = 1 << 53

// ReadCount reads the count at the cursor. What is no count, since it is no
// integer or negative, says nothing: the one that was known stays, for nothing
// may ever be subtracted from a bill.
func ReadCount(c *jsonscan.Cursor, count *int64) {
	n, exact, ok := c.Int()
	switch {
	case !ok:
		c.Skip()
	case exact && n >= 0:
		*count = min(n, maxCount)
	}
}
