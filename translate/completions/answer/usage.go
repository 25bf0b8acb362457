package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// FillUsage appends the edits that add missing details to the usage of a valid answer or
// chunk: the tokens that are not counted as others are text, and other details are 0. An
// answer without usage stays unchanged.
func FillUsage(edits []edit.Edit, answer []byte) []edit.Edit {
	c := jsonscan.Again(answer)
	c.EnterObject()
	for c.Member() {
		if string(c.Name()) == "usage" {
			edits = edit.Fill(&c, detailsOf(c), edits)
		} else {
			c.Skip()
		}
	}
	return edits
}

// The counts of a usage object that decide how many tokens are text. Cached tokens are text.
var (
	counts           = members.New("")
	promptTokens     = counts.Maybe(members.Number, "prompt_tokens")
	completionTokens = counts.Maybe(members.Number, "completion_tokens")
	promptOthers     = others(counts.Inside("", "prompt_tokens_details"))
	completionOthers = others(counts.Inside("", "completion_tokens_details"))
)

// others adds the details of tokens that are no text.
func others(t *members.Table) [3]members.Member {
	return [...]members.Member{
		t.Maybe(members.Number, "audio_tokens"), t.Maybe(members.Number, "image_tokens"), t.Maybe(members.Number, "reasoning_tokens"),
	}
}

// detailsOf returns the details that the usage at the cursor should have.
func detailsOf(c jsonscan.Cursor) []edit.Wanted {
	var v members.Values
	v.Read(&c, counts, nil)
	return []edit.Wanted{
		{Name: "prompt_tokens_details", Members: append(edit.Counts("cached_tokens"), wanted(&v, promptTokens, promptOthers, "image_tokens")...)},
		{Name: "completion_tokens_details", Members: wanted(&v, completionTokens, completionOthers, "reasoning_tokens")},
	}
}

// wanted returns the counts of text, audio and another kind, of which only that of text
// follows from the others.
func wanted(v *members.Values, total members.Member, others [3]members.Member, other string) []edit.Wanted {
	text := token.CountOf(v.Raw(total))
	for _, m := range others {
		text -= token.CountOf(v.Raw(m))
	}
	return []edit.Wanted{{Name: "text_tokens", Count: max(0, text)}, {Name: "audio_tokens"}, {Name: other}}
}
