package pairs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Codex and others put a developer's message between a call and its result, which the responses format
// allows. Chat services refuse anything but results behind calls, and with them the rest of the session.
func TestSystemTextsAreBehindTheResultsOfCallsOfChat(t *testing.T) {
	const (
		first, second   = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`, `{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"}`
		result1, again2 = `{"type":"function_call_output","call_id":"c1","output":"r1"}`, `{"type":"function_call_output","call_id":"c2","output":"r2"}`
		note, another   = `{"role":"developer","content":"note"}`, `{"role":"system","content":"another"}`
		user            = `{"role":"user","content":"u"}`
		said            = `{"role":"assistant","content":"a"}`
	)
	for name, c := range map[string]struct {
		items, traits string
		want          string // the roles of messages, with the system text
		moved         bool
	}{
		"between a call and its result": {first + "," + note + "," + result1, "", "assistant tool note", true},
		"between results":               {first + "," + second + "," + result1 + "," + note + "," + again2, "", "assistant tool tool note", true},
		"two of them":                   {first + "," + note + "," + another + "," + result1 + "," + user, "", "assistant tool note\n\nanother user", true},
		"as the user":                   {first + "," + note + "," + result1 + "," + said + "," + user, "mid_system user", "assistant tool note assistant user", true},
		"with roles that alternate":     {first + "," + note + "," + result1 + "," + user, "mid_system user; alternation true", "assistant tool note\n\nu", true},
		"behind results":                {first + "," + result1 + "," + note + "," + user, "", "assistant tool note user", false},
		"behind results, at the end":    {first + "," + result1 + "," + note, "", "assistant tool note", false},
		"behind a text":                 {said + "," + note + "," + user, "", "assistant note user", false},
		"without a result":              {first + "," + note + "," + user, "", "assistant note user", false},
	} {
		body := `{"model":"m1","tools":[{"type":"function","name":"f"}],"input":[{"role":"user","content":"hi"},` + c.items + `]}`
		out, losses, refused := rendered(t, translate.Responses, translate.Chat, body, c.traits)
		require.Empty(t, refused, name)
		var sent struct {
			Messages []struct{ Role, Content string }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &sent), name)
		var got []string
		for _, m := range sent.Messages[1:] {
			if m.Content == "note" || m.Content == "note\n\nanother" || m.Content == "note\n\nu" {
				m.Role = m.Content
			}
			got = append(got, m.Role)
		}
		assert.Equal(t, c.moved, strings.Contains(losses, "shaping"), "%s: %s", name, losses)
		assert.Equal(t, c.want, strings.Join(got, " "), "%s: %s", name, out)
	}
}
