package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// counts contains the numbers of the provider's usage objects: the last of each in one
// answer.
type counts struct {
	prompt, completion int64
	total              int64
	details            cached // of prompt_tokens_details
	hit, read, created int64  // cached tokens by the names of other servers
	reasoning          int64
	terms              token.Terms // the service tier, a member beside the usage object

	positive bool // the usage object that was read last has a count above 0
	negative bool // a usage object has a count below 0, which is ignored
}

type cached struct{ read, written int64 }

// take consumes the value at the cursor. ok is false if the value is not a usage object,
// but a null for instance. Counts that are absent or malformed leave those of an
// earlier chunk unchanged.
func (n *counts) take(c *jsonscan.Cursor) (ok bool) {
	n.positive = false
	for ok = c.OpenObject(); c.Member(); {
		n.member(c)
	}
	return ok
}

func (n *counts) member(c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "prompt_tokens":
		n.count(c, &n.prompt)
	case "completion_tokens":
		n.count(c, &n.completion)
	case "total_tokens":
		n.count(c, &n.total)
	case "prompt_cache_hit_tokens":
		n.count(c, &n.hit)
	case "cache_read_input_tokens":
		n.count(c, &n.read)
	case "cache_creation_input_tokens":
		n.count(c, &n.created)
	case "prompt_tokens_details":
		n.promptDetails(c)
	case "completion_tokens_details":
		n.completionDetails(c)
	default:
		c.Skip()
	}
}

func (n *counts) promptDetails(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "cached_tokens":
			n.count(c, &n.details.read)
		case "cache_write_tokens":
			n.count(c, &n.details.written)
		default:
			c.Skip()
		}
	}
}

func (n *counts) completionDetails(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "reasoning_tokens" {
			n.count(c, &n.reasoning)
		} else {
			c.Skip()
		}
	}
}

// count reads a count into known, which stays unchanged if the value is not a count.
func (n *counts) count(c *jsonscan.Cursor, known *int64) {
	value := int64(-1)
	n.negative = token.ReadCount(c, &value) || n.negative
	if value >= 0 {
		*known = value
		n.positive = n.positive || value > 0
	}
}

// usage returns the counts without overlap: in the format, the prompt tokens include
// the cached ones; in token.Usage they do not.
func (n *counts) usage() token.Usage {
	read := firstOf(n.details.read, n.hit, n.read)
	written := firstOf(n.details.written, n.created)
	apart := n.reasoningApart()
	return token.Usage{
		CacheRead:  read,
		CacheWrite: written,
		Output:     n.completion + apart,
		Reasoning:  max(n.reasoning, apart),
		Known:      true,
		Terms:      n.terms,

		Inconsistent: n.negative,
	}.OfPrompt(n.prompt).Checked()
}

// reasoningApart returns the reasoning tokens that the completion tokens do not include:
// those of xAI, and those of Gemini, which only the total has.
func (n *counts) reasoningApart() int64 {
	apart := max(0, n.total-n.prompt-n.completion)
	anyCached := n.details != cached{} || n.hit+n.read+n.created > 0
	if apart == n.reasoning || n.reasoning == 0 && !anyCached {
		return apart
	}
	return 0
}

// firstOf returns the first count that is not zero.
func firstOf(counts ...int64) int64 {
	for _, n := range counts {
		if n != 0 {
			return n
		}
	}
	return 0
}

// Count consumes a value and returns it if it is a count within the bounds, otherwise 0.
func Count(c *jsonscan.Cursor) (n int64) {
	token.ReadCount(c, &n)
	return n
}

// CutUsage appends the edit that removes the usage from a valid chunk.
func CutUsage(edits []edit.Edit, chunk []byte) []edit.Edit {
	start, end := jsonscan.CutMember(chunk, "usage")
	return append(edits, edit.Edit{Span: translate.Span{Start: start, End: end}})
}
