package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// readUsage reads the usage object at the cursor into u. Counts that are absent or null
// leave those of an earlier event unchanged. It reports false for a value of another
// kind.
func readUsage(c *jsonscan.Cursor, u *token.Usage) bool {
	known := c.OpenObject()
	u.Known = u.Known || known
	for c.Member() {
		switch string(c.Name()) {
		case "input_tokens":
			token.ReadCount(c, &u.Input)
		case "cache_read_input_tokens":
			token.ReadCount(c, &u.CacheRead)
		case "cache_creation_input_tokens":
			token.ReadCount(c, &u.CacheWrite)
		case "output_tokens":
			token.ReadCount(c, &u.Output)
		case "output_tokens_details":
			readPart(c, "thinking_tokens", &u.Reasoning)
		case "cache_creation":
			readPart(c, "ephemeral_1h_input_tokens", &u.CacheWriteLong)
		case "server_tool_use":
			readPart(c, "web_search_requests", &u.Searches)
		case "service_tier":
			u.Terms.ReadTier(c.StringOrSkip())
		case "speed":
			u.Terms.Set(token.Fast, c.StringOrSkip(), "fast")
		case "inference_geo":
			u.Terms.Set(token.RegionUS, c.StringOrSkip(), "us")
		default:
			c.Skip()
		}
	}
	return known
}

// readPart reads one count of the object at the cursor.
func readPart(c *jsonscan.Cursor, name string, count *int64) {
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == name {
			token.ReadCount(c, count)
		} else {
			c.Skip()
		}
	}
}

// cacheCounts lists the counts of usage that many servers omit.
var cacheCounts = edit.Counts("cache_creation_input_tokens", "cache_read_input_tokens")

// FillUsage appends the edits that add missing counts, as zeros, to the usage of a valid
// answer or message_start. A message_delta stays unchanged: clients replace earlier counts
// by its counts, and a zero would replace a count that is known.
func FillUsage(edits []edit.Edit, answer []byte) []edit.Edit {
	c := jsonscan.Again(answer)
	if string(c.TypeAhead()) != `"message_delta"` {
		edits = fillUsage(&c, edits)
	}
	return edits
}

func fillUsage(c *jsonscan.Cursor, edits []edit.Edit) []edit.Edit {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "usage":
			edits = edit.Fill(c, cacheCounts, edits)
		case "message":
			edits = fillUsage(c, edits)
		default:
			c.Skip()
		}
	}
	return edits
}
