package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// usageRows describes the usage objects of the format.
var usageRows = token.WithStatedCosts(
	token.Row{Path: "input_tokens", Is: token.Fresh},
	token.Row{Path: "cache_read_input_tokens", Is: token.CacheRead},
	token.Row{Path: "cache_creation_input_tokens", Is: token.CacheWrite},
	token.Row{Path: "cache_creation.ephemeral_1h_input_tokens", Is: token.CacheWriteLong},
	token.Row{Path: "cache_creation.ephemeral_5m_input_tokens", Is: token.CacheWriteShort},
	token.Row{Path: "output_tokens", Is: token.Output},
	token.Row{Path: "output_tokens_details.thinking_tokens", Is: token.Reasoning},
	token.Row{Path: "server_tool_use.web_search_requests", Is: token.Searches},
	token.Row{Path: "service_tier", Is: token.Tier},
	token.Row{Path: "speed", Is: token.Speed},
	token.Row{Path: "inference_geo", Is: token.Region},
	token.Row{Path: "iterations", Is: token.Runs},
)

// Tiers are the values of service_tier in answers of the messages format.
var Tiers = event.TierWords{event.TierStandard: "standard", event.TierPriority: "priority", event.TierBatch: "batch"}

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

// AppendUsage appends the usage object of a messages answer. It always contains the four
// counts that clients add up, 0 while unknown, and other members only if they are known.
func AppendUsage(dst []byte, u token.Usage, tier event.Tier) []byte {
	dst = jsonscan.AppendCount(dst, `{"input_tokens":`, u.Fresh)
	dst = jsonscan.AppendCount(dst, `,"cache_creation_input_tokens":`, u.Written())
	dst = jsonscan.AppendCount(dst, `,"cache_read_input_tokens":`, u.CacheRead)
	dst = jsonscan.AppendCount(dst, `,"output_tokens":`, u.Output())
	if u.Reasoning > 0 {
		dst = jsonscan.AppendCount(dst, `,"output_tokens_details":{"thinking_tokens":`, u.Reasoning)
		dst = append(dst, '}')
	}
	if word := Tiers[tier]; word != "" {
		dst = append(append(append(dst, `,"service_tier":"`...), word...), '"')
	}
	return append(dst, '}')
}
