package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// counts contains the numbers of the provider's usage object.
type counts struct {
	input, output   int64
	cached, written int64 // of the input
	reasoning       int64 // of the output
	searches        int64 // of the web, which are items of the output
	known           bool
	negative        bool        // a count is below 0, which is ignored
	terms           token.Terms // the service tier, a member beside the usage object
}

// read reads the usage object at the cursor. Events before the last one have null.
func (n *counts) read(c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	n.known = true
	for c.Member() {
		switch string(c.Name()) {
		case "input_tokens":
			n.count(c, &n.input)
		case "output_tokens":
			n.count(c, &n.output)
		case "input_tokens_details", "output_tokens_details":
			n.details(c)
		default:
			c.Skip()
		}
	}
}

func (n *counts) details(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "cached_tokens":
			n.count(c, &n.cached)
		case "cache_write_tokens":
			n.count(c, &n.written)
		case "reasoning_tokens":
			n.count(c, &n.reasoning)
		default:
			c.Skip()
		}
	}
}

func (n *counts) count(c *jsonscan.Cursor, known *int64) {
	n.negative = token.ReadCount(c, known) || n.negative
}

// usage returns the counts without overlap: in the format, the input tokens include the
// cached ones; in token.Usage they do not.
func (n *counts) usage() token.Usage {
	return token.Usage{
		CacheRead:  n.cached,
		CacheWrite: n.written,
		Output:     n.output,
		Reasoning:  n.reasoning,
		Searches:   n.searches,
		Known:      n.known,
		Terms:      n.terms,

		Inconsistent: n.negative,
	}.OfPrompt(n.input).Checked()
}

// AppendUsage appends the usage object of an answer, with all counts and details, which
// clients require; unknown ones are 0.
func AppendUsage(dst []byte, u token.Usage) []byte {
	dst = appendCount(dst, `{"input_tokens":`, u.TotalInput())
	dst = appendCount(dst, `,"input_tokens_details":{"cached_tokens":`, u.CacheRead)
	dst = appendCount(dst, `,"cache_write_tokens":`, u.CacheWrite)
	dst = appendCount(dst, `},"output_tokens":`, u.Output)
	dst = appendCount(dst, `,"output_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	dst = appendCount(dst, `},"total_tokens":`, u.Total())
	return append(dst, '}')
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(appendCount(dst, `{"object":"response.input_tokens","input_tokens":`, tokens), '}')
}

func appendCount(dst []byte, before string, n int64) []byte {
	return strconv.AppendInt(append(dst, before...), n, 10)
}
