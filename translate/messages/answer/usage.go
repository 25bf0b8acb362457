package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// counts contains the numbers of the last usage objects of an answer.
type counts struct {
	token.Usage             // without runs
	answering   token.Usage // the sum of the runs that have written the answer
	others      []token.Run // all other runs
}

// read reads the usage object at the cursor. Counts that are absent or null leave those of
// an earlier event unchanged. It reports false for a value of another kind.
func (n *counts) read(c *jsonscan.Cursor) bool {
	known := c.OpenObject()
	n.Known = n.Known || known
	for c.Member() {
		if string(c.Name()) == "iterations" {
			n.readRuns(c)
		} else {
			readCount(c, &n.Usage)
		}
	}
	return known
}

// usage returns the counts, with the runs that they do not include.
func (n *counts) usage() token.Usage {
	if len(n.others) == 0 {
		return n.Usage.Checked()
	}
	return n.Usage.Checked().OfRuns(n.answering, n.others)
}

// readCount reads a member of a usage object into u.
func readCount(c *jsonscan.Cursor, u *token.Usage) {
	negative := false
	switch string(c.Name()) {
	case "input_tokens":
		negative = token.ReadCount(c, &u.Input)
	case "cache_read_input_tokens":
		negative = token.ReadCount(c, &u.CacheRead)
	case "cache_creation_input_tokens":
		negative = token.ReadCount(c, &u.CacheWrite)
	case "output_tokens":
		negative = token.ReadCount(c, &u.Output)
	case "output_tokens_details":
		negative = readPart(c, "thinking_tokens", &u.Reasoning)
	case "cache_creation":
		negative = readPart(c, "ephemeral_1h_input_tokens", &u.CacheWriteLong)
	case "server_tool_use":
		negative = readPart(c, "web_search_requests", &u.Searches)
	case "service_tier":
		u.Terms.ReadTier(c.StringOrSkip())
	case "speed":
		u.Terms.ReadSpeed(c.StringOrSkip())
	case "inference_geo":
		u.Terms.ReadRegion(c.StringOrSkip())
	default:
		c.Skip()
	}
	u.Inconsistent = u.Inconsistent || negative
}

// readPart reads one count of the object at the cursor. It reports whether the count is
// negative.
func readPart(c *jsonscan.Cursor, name string, count *int64) (negative bool) {
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == name {
			negative = token.ReadCount(c, count)
		} else {
			c.Skip()
		}
	}
	return negative
}

const (
	maxRuns     = 16  // further runs that are kept; later ones are added to the last one
	maxRunModel = 128 // length in bytes of the name of a model
)

// readRuns reads the list of runs of models. It replaces that of an earlier event.
func (n *counts) readRuns(c *jsonscan.Cursor) {
	if !c.EnterArray() {
		c.Skip()
		return
	}
	n.answering, n.others = token.Usage{Known: true}, nil
	for c.Element() {
		n.readRun(c)
	}
}

// readRun reads a run. Those of the type "message" have written the answer, others have
// summarized the conversation or advised the model.
func (n *counts) readRun(c *jsonscan.Cursor) {
	run := token.Run{Usage: token.Usage{Known: true}}
	answers := true
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			answers = string(c.StringOrSkip()) == `"message"`
		case "model":
			if raw := c.StringOrSkip(); len(raw) <= maxRunModel {
				run.Model = string(jsonscan.AppendText(nil, raw))
			}
		default:
			readCount(c, &run.Usage)
		}
	}
	run.Usage = run.Checked()
	run.Searches = 0 // the usage of the answer has all
	switch last := len(n.others) - 1; {
	case answers:
		n.answering = n.answering.Plus(run.Usage)
	case last+1 < maxRuns:
		n.others = append(n.others, run)
	default:
		n.others[last].Usage = n.others[last].Plus(run.Usage)
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
