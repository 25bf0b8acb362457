package pairs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// inSteps are the roles, ids and texts of the conversations below, as all formats write them.
var inSteps = regexp.MustCompile(`"(assistant|model|c[12]|r[12]|note|later|u|a)"`)

// The responses format allows messages between the calls of one step. The calls then came in two turns,
// and all results behind the second: chat services, Claude, Gemini and Converse refuse a call whose
// result does not follow, and with it the rest of the session.
func TestMessagesInAStepAreBehindItsResults(t *testing.T) {
	const (
		call1, call2     = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`, `{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"}`
		result1, result2 = `{"type":"function_call_output","call_id":"c1","output":"r1"}`, `{"type":"function_call_output","call_id":"c2","output":"r2"}`
		free             = `{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"}`
		freeResult       = `{"type":"custom_tool_call_output","call_id":"c1","output":"r1"}`
		note, later      = `{"role":"developer","content":"note"}`, `{"type":"message","role":"user","content":[{"type":"input_text","text":"later"}]}`
		user, said       = `{"role":"user","content":"u"}`, `{"role":"assistant","content":"a"}`
		thought          = `{"type":"reasoning","summary":[{"type":"summary_text","text":"t"}]}`
	)
	others := []translate.Format{translate.Chat, translate.Messages, translate.Gemini, translate.Converse}
	toChat := others[:1]
	for name, c := range map[string]struct {
		targets []translate.Format
		traits  string
		items   []string
		want    string
		moved   bool
	}{
		"a user between calls":          {others, "", []string{call1, user, call2, result1, result2}, "step c1 c2 c1 r1 c2 r2 u", true},
		"the system between calls":      {others, "", []string{call1, note, call2, result1, result2}, "step c1 c2 c1 r1 c2 r2 note", true},
		"reasoning behind the message":  {others, "", []string{call1, user, thought, call2, result1, result2}, "step c1 c2 c1 r1 c2 r2 u", true},
		"messages in all places":        {others, "", []string{call1, user, call2, later, result2, note, result1}, "step c1 c2 c2 r2 c1 r1 u later note", true},
		"the call of a free text":       {others, "", []string{free, user, call2, freeResult, result2}, "step c1 c2 c1 r1 c2 r2 u", true},
		"an assistant's text behind it": {others, "", []string{call1, user, call2, result1, result2, said, later}, "step c1 c2 c1 r1 c2 r2 u step a later", true},
		"two steps":                     {others, "", []string{call1, result1, user, call2, result2}, "step c1 c1 r1 u step c2 c2 r2", false},
		"a step without results":        {others, "", []string{call1, user, said, later}, "step c1 u step a later", false},
		"at the end, without results":   {others, "", []string{call1, user}, "step c1 u", false},

		"system texts behind a call":       {others, "", []string{call1, note, result1}, "step c1 c1 r1 note", true},
		"a system text between results":    {others, "", []string{call1, call2, result1, note, result2}, "step c1 c2 c1 r1 c2 r2 note", true},
		"a system text behind results":     {others, "", []string{call1, result1, note}, "step c1 c1 r1 note", false},
		"a system text without a result":   {toChat, "", []string{call1, note, user}, "step c1 note u", false},
		"a system text behind a text":      {toChat, "", []string{said, note, user}, "step a note u", false},
		"a system text in the user's role": {toChat, "mid_system user", []string{call1, note, result1, said, user}, "step c1 c1 r1 note step a u", true},
	} {
		body := `{"model":"m1","tools":[{"type":"function","name":"f"}],"input":[{"role":"user","content":"hi"},` + strings.Join(c.items, ",") + `]}`
		for _, target := range c.targets {
			out, losses, refused := rendered(t, translate.Responses, target, body, c.traits)
			require.Empty(t, refused, "%s: %s", name, target)
			_, out, _ = strings.Cut(out, `"hi"`)
			var got []string
			for _, found := range inSteps.FindAllStringSubmatch(out, -1) {
				got = append(got, strings.NewReplacer("assistant", "step", "model", "step").Replace(found[1]))
			}
			want := c.want
			if target == translate.Messages && strings.Contains(want, "note") {
				want = strings.Replace(want, " note", "", 1) + " note" // among the instructions
			}
			assert.Equal(t, want, strings.Join(got, " "), "%s: %s: %s", name, target, out)
			assert.Equal(t, c.moved, strings.Contains(losses, "input[*].type shaping"), "%s: %s: %s", name, target, losses)
		}
	}
}
