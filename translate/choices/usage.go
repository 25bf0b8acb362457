package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// counts are the numbers of a usage object, as the provider gives them.
type counts struct {
	prompt, completion int64
	details            cached // of prompt_tokens_details
	hit, read, created int64  // names that other servers have for cached tokens
	reasoning          int64
}

type cached struct{ read, written int64 }

// ReadUsage reads the usage object at the cursor; ok is false when there is
// none, a null for instance. Prompt tokens include the cached ones on the wire,
// and do not in Usage.
func ReadUsage(c *jsonscan.Cursor) (u translate.Usage, ok bool) {
	if !c.EnterObject() {
		c.Skip()
		return u, false
	}
	var n counts
	for c.Member() {
		n.member(c)
	}
	return n.usage(), true
}

func (n *counts) member(c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "prompt_tokens":
		n.prompt = Count(c)
	case "completion_tokens":
		n.completion = Count(c)
	case "prompt_cache_hit_tokens":
		n.hit = Count(c)
	case "cache_read_input_tokens":
		n.read = Count(c)
	case "cache_creation_input_tokens":
		n.created = Count(c)
	case "prompt_tokens_details":
		n.promptDetails(c)
	case "completion_tokens_details":
		n.completionDetails(c)
	default:
		c.Skip()
	}
}

func (n *counts) promptDetails(c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch string(c.Name()) {
		case "cached_tokens":
			n.details.read = Count(c)
		case "cache_write_tokens":
			n.details.written = Count(c)
		default:
			c.Skip()
		}
	}
}

func (n *counts) completionDetails(c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		if string(c.Name()) == "reasoning_tokens" {
			n.reasoning = Count(c)
		} else {
			c.Skip()
		}
	}
}

func (n *counts) usage() translate.Usage {
	read := firstOf(n.details.read, n.hit, n.read)
	written := firstOf(n.details.written, n.created)
	return translate.Usage{
		Input:      max(0, n.prompt-read-written),
		CacheRead:  read,
		CacheWrite: written,
		Output:     n.completion,
		Reasoning:  n.reasoning,
		Known:      true,
	}
}

// firstOf is the first count that is not zero.
func firstOf(counts ...int64) int64 {
	for _, n := range counts {
		if n != 0 {
			return n
		}
	}
	return 0
}

// maxCount bounds counts so that sums of them cannot overflow.
const maxCount = 1 << 53

// Count reads a count of tokens. What is no integer counts as 0, and so does
// what is negative, since nothing may ever be subtracted from a bill.
func Count(c *jsonscan.Cursor) int64 {
	n, _, ok := c.Int()
	if !ok {
		c.Skip()
	}
	return min(max(0, n), maxCount)
}
