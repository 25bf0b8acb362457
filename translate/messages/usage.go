package messages

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

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
			translate.ReadCount(c, &u.Input)
		case "cache_read_input_tokens":
			translate.ReadCount(c, &u.CacheRead)
		case "cache_creation_input_tokens":
			translate.ReadCount(c, &u.CacheWrite)
		case "output_tokens":
			translate.ReadCount(c, &u.Output)
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
			translate.ReadCount(c, &u.Reasoning)
		} else {
			c.Skip()
		}
	}
}
