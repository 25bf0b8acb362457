package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/settings"
)

// TestTheAnswerRepeatsTheRequestThatWasRead ensures that the reader, which takes the
// settings along while it reads, finds those that a look at the body alone finds.
func TestTheAnswerRepeatsTheRequestThatWasRead(t *testing.T) {
	for _, body := range []string{
		`{ "model" : "m1" , "input" : "hi" , "instructions" : "s" , "temperature" : 0.5 , "tools" : [ ] , "tool_choice" : "auto" , "text" : { "verbosity" : "low" } , "user" : null , "metadata" : { "a" : "b" } }`,
		posing(`"stream":true`, `"instructions":"s"`, `"reasoning":{"effort":"low"}`, `"store":true`, oneFunctionTool).body,
	} {
		_, r, fault := pairs.Render(nil, translate.Responses, translate.Chat, []byte(body), &core.RequestInfo{Model: "m1", Upstream: "up"})
		require.Nil(t, fault)
		assert.Equal(t, string(settings.Append(nil, []byte(body), r.Answer.Stream)), string(r.Answer.Settings))
	}
}

const oneFunctionTool = `"tools":[{"type":"function","name":"f"}]`

// TestAnAnswerRepeatsTheToolsThatWereSent ensures that an answer names no tool that the
// model never had. It repeated web_search although that had been left out.
func TestAnAnswerRepeatsTheToolsThatWereSent(t *testing.T) {
	const f, g, search, mcp = `{"type":"function","name":"f"}`, `{"type":"custom","name":"g"}`, `{"type":"web_search"}`, `{"type":"mcp","server_label":"s"}`
	for tools, want := range map[string]string{
		f + "," + g:                              f + "," + g,
		search + "," + f:                         f,
		f + " , " + search + "," + mcp + "," + g: f + "," + g,
		search + "," + mcp:                       "",
		f + `,{"type":"tool_search"}`:            f,
	} {
		body := posing(`"tools":[` + tools + `]`).body
		_, r, fault := pairs.Render(nil, translate.Responses, translate.Chat, []byte(body), &core.RequestInfo{Model: "m1", Upstream: "up"})
		require.Nil(t, fault, tools)
		assert.Contains(t, string(r.Answer.Settings), `,"tools":[`+want+`]`, tools)
	}
}
