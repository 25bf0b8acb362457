package messages

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxCount bounds counts so that sums of them cannot overflow.
const maxCount = 1 << 53

// readUsage reads the usage object at the cursor into u. Counts that are there
// overwrite; those that are absent or null keep what an earlier event said.
func readUsage(c *jsonscan.Cursor, u *translate.Usage) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	u.Known = true
	for c.Member() {
		switch string(c.Name()) {
		case "input_tokens":
			readCount(c, &u.Input)
		case "cache_read_input_tokens":
			readCount(c, &u.CacheRead)
		case "cache_creation_input_tokens":
			readCount(c, &u.CacheWrite)
		case "output_tokens":
			readCount(c, &u.Output)
		case "output_tokens_details":
			readDetails(c, u)
		default:
			c.Skip()
		}
	}
}

func readDetails(c *jsonscan.Cursor, u *translate.Usage) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		if string(c.Name()) == "thinking_tokens" {
			readCount(c, &u.Reasoning)
		} else {
			c.Skip()
		}
	}
}

// readCount reads a count of tokens. A negative one counts as 0, since nothing
// may ever be subtracted from a bill; what is no integer says nothing.
func readCount(c *jsonscan.Cursor, count *int64) {
	n, exact, ok := c.Int()
	switch {
	case !ok:
		c.Skip()
	case exact:
		*count = min(max(0, n), maxCount)
	}
}
