package pairs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The models of Mistral refuse anyone but the assistant behind the results of calls ("Unexpected role
// 'user' after role 'tool'"). Clients put texts there all the time: a reminder beside the results, the
// next question after calls that were declined, an image that a tool has returned.
func TestOnlyTheAssistantFollowsResultsOfModelsOfMistral(t *testing.T) {
	const (
		call, answer = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c1","output":"r"}`
		image        = `{"type":"function_call_output","call_id":"c1","output":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}`
		user, system = `{"role":"user","content":"u"}`, `{"role":"developer","content":"s"}`
		said         = `{"role":"assistant","content":"a"}`
	)
	for name, c := range map[string]struct{ items, traits, want string }{
		"a text":                       {call + "," + answer + "," + user, "", "assistant tool OK user"},
		"the text of an assistant":     {call + "," + answer + "," + said + "," + user, "", "assistant tool assistant user"},
		"nothing":                      {call + "," + answer, "", "assistant tool"},
		"another call":                 {call + "," + answer + "," + strings.ReplaceAll(call+","+answer, "c1", "c2"), "", "assistant tool assistant tool"},
		"results of several calls":     {call + "," + strings.ReplaceAll(call, "c1", "c2") + "," + answer + "," + strings.ReplaceAll(answer, "c1", "c2") + "," + user, "", "assistant tool tool OK user"},
		"an image of the tool":         {call + "," + image, "", "assistant tool OK user"},
		"a system text":                {call + "," + answer + "," + system + "," + user, "", "assistant tool OK system user"},
		"a system text before results": {call + "," + system + "," + answer, "", "assistant tool OK system"},
		"a system text as the user":    {call + "," + answer + "," + system + "," + user, "; mid_system user; alternation on", "assistant tool OK user"},
		"in two turns":                 {call + "," + answer + "," + user + "," + strings.ReplaceAll(call+","+answer, "c1", "c2") + "," + user, "", "assistant tool OK user assistant tool OK user"},
	} {
		body := `{"model":"m1","tools":[{"type":"function","name":"f"}],"input":[{"role":"user","content":"hi"},` + c.items + `]}`
		out, _, refused := rendered(t, translate.Responses, translate.Chat, body, "after_results assistant"+c.traits)
		require.Empty(t, refused, name)
		var sent struct{ Messages []map[string]any }
		require.NoError(t, json.Unmarshal([]byte(out), &sent), name)
		var got []string
		for _, m := range sent.Messages[1:] {
			if m["content"] == "OK." {
				m["role"] = "OK"
			}
			got = append(got, m["role"].(string))
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "%s: %s", name, out)
	}
}
