package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const tools = "guard agents tools {\ndeny bad_* web_search* google*\n}"

// The guard saw only the tools that the reader of the format recognised, so that other fields of
// a request passed tools by names that it denies.
func TestNoFieldOfARequestPassesADeniedTool(t *testing.T) {
	s, p := guarded(t, tools)
	const ask = `{"role":"user","content":"hello"}`
	chat := func(history, more string) string {
		return `{"model":"m","messages":[` + ask + history + `]` + more + `}`
	}
	messages := func(history, more string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + ask + history + `]` + more + `}`
	}
	responses := func(item, more string) string {
		return `{"model":"m","input":[` + ask + item + `]` + more + `}`
	}
	gemini := func(more string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]` + more + `}`
	}
	const geminiPath = "/v1beta/models/gem:generateContent"
	for name, request := range map[string]struct{ path, field, plain string }{
		"functions":               {site.ChatPath, chat("", `,"functions":[{"name":"bad_x","parameters":{}}]`), chat("", `,"functions":[{"name":"x","parameters":{"properties":{"tools":{"type":"bad_x"}}}}]`)},
		"escapes in functions":    {site.ChatPath, chat("", `,"f\u0075nctions":[{"n\u0061me":"b\u0061d_x"}]`), chat("", `,"function_call":"auto"`)},
		"function_call":           {site.ChatPath, chat(`,{"role":"assistant","content":null,"function_call":{"name":"bad_x","arguments":"{}"}},`+ask, ""), chat("", "")},
		"web_search_options":      {site.ChatPath, chat("", `,"web_search_options":{}`), chat("", `,"metadata":{"name":"bad_x"}`)},
		"allowed tools of a chat": {site.ChatPath, chat("", `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"bad_x"}}]}}`), chat("", "")},
		"a namespace":             {site.ResponsesPath, responses("", `,"tools":[{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"bad_x","parameters":{}}]}]`), responses("", "")},
		"allowed_tools of mcp":    {site.ResponsesPath, responses("", `,"tools":[{"type":"mcp","server_label":"l","server_url":"https://x.test","allowed_tools":["bad_x"]}]`), responses("", `,"tools":[{"type":"mcp","server_label":"l","server_url":"https://x.test","allowed_tools":["x"]}]`)},
		"tool_names of mcp":       {site.ResponsesPath, responses("", `,"tools":[{"type":"mcp","server_label":"l","server_url":"https://x.test","allowed_tools":{"tool_names":["bad_x"]}}]`), responses("", "")},
		"mcp_call":                {site.ResponsesPath, responses(`,{"type":"mcp_call","id":"i","server_label":"l","name":"bad_x","arguments":"{}"}`, ""), responses("", "")},
		"web_search_call":         {site.ResponsesPath, responses(`,{"type":"web_search_call","id":"i","status":"completed"}`, ""), responses("", "")},
		"mcp_servers":             {site.MessagesPath, messages("", `,"mcp_servers":[{"type":"url","url":"https://x.test","name":"s","tool_configuration":{"allowed_tools":["bad_x"]}}]`), messages("", `,"mcp_servers":[{"type":"url","url":"https://x.test","name":"s"}]`)},
		"an mcp toolset":          {site.MessagesPath, messages("", `,"tools":[{"type":"mcp_toolset","mcp_server_name":"s","configs":{"bad_x":{"enabled":true}}}]`), messages("", "")},
		"server_tool_use":         {site.MessagesPath, messages(`,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}]},`+ask, ""), messages("", "")},
		"a tool of another type":  {site.MessagesPath, messages("", `,"tools":[{"type":"other_20260101","name":"bad_x"}]`), messages("", `,"tools":[{"type":"other_20260101","name":"x"}]`)},
		"googleSearch":            {geminiPath, gemini(`,"tools":[{"googleSearch":{}}]`), gemini(`,"tools":[{"codeExecution":{}}]`)},
		"google_search":           {geminiPath, gemini(`,"tools":[{"google_search":{}}]`), gemini("")},
		"googleMaps":              {geminiPath, gemini(`,"tools":[{"googleMaps":{}}]`), gemini("")},
		"allowedFunctionNames":    {geminiPath, gemini(`,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["bad_x"]}}`), gemini("")},
	} {
		t.Run(name, func(t *testing.T) {
			sent := p.Count()
			answer := s.Ask(request.path, request.field)
			assert.Equal(t, http.StatusBadRequest, answer.Status)
			assert.Contains(t, answer.Body, "rule 'deny'")
			assert.Equal(t, sent, p.Count(), "no provider got it")
			assert.NotContains(t, s.Ask(request.path, request.plain).Body, "rule 'deny'")
		})
	}
}

// Calls of tools of servers in an answer were other strings to the guard.
func TestNoCallOfADeniedToolIsInAnAnswer(t *testing.T) {
	s, p := guarded(t, tools)
	for name, block := range map[string]string{
		"server_tool_use": `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`,
		"mcp_tool_use":    `{"type":"mcp_tool_use","id":"mcptoolu_1","name":"bad_x","server_name":"s","input":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p.Script(gatewaytest.Chunks("application/json", `{"id":"i","type":"message","role":"assistant","model":"m","content":[`+block+`],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`))
			answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false))
			assert.Contains(t, answer.Body, "rule 'deny'")
			events := strings.Join([]string{
				"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"i","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
				"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":` + block + `}`,
				"event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}`,
				"event: message_stop\ndata: " + `{"type":"message_stop"}`,
			}, "\n\n") + "\n\n"
			p.Script(gatewaytest.Chunks("text/event-stream", events))
			answer = s.Ask(site.MessagesPath, streamBody(site.MessagesPath))
			assert.Contains(t, answer.Body, "rule 'deny'")
			assert.NotContains(t, answer.Body, block)
		})
	}
}

// A request could send a prompt, and a credential, to any server that it named to the vendor.
func TestX104AVendorCallsOnlyServersThatAreAllowed(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "log_content", "guard vendor tools {\nmcp_urls https://good.test/* connector_gmail\n}", site.Direct.Provider("up", p, "models m gem"))
	openai := func(member string) string {
		return `{"model":"m","input":"hello","tools":[{"type":"mcp","server_label":"l","authorization":"client-secret",` + member + `}]}`
	}
	anthropic := func(url string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}],"mcp_servers":[{"type":"url","url":"` + url + `","name":"s","authorization_token":"client-secret"}]}`
	}
	google := func(url string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"tools":[{"mcpServers":[{"name":"s","streamableHttpTransport":{"url":"` + url + `","headers":{"Authorization":"client-secret"}}}]}]}`
	}
	const geminiPath = "/v1beta/models/gem:generateContent"
	for _, request := range []struct{ path, bad, good string }{
		{site.ResponsesPath, openai(`"server_url":"https://evil.test/mcp"`), openai(`"server_url":"https://good.test/mcp"`)},
		{site.ResponsesPath, openai(`"server_url":"https://good.test.evil.test/"`), openai(`"connector_id":"connector_gmail"`)},
		{site.ResponsesPath, openai(`"server_url":"https://good.test/a","server_url":"https://evil.test/"`), openai(`"server_url":"https:\u002f/good.test/"`)},
		{site.ResponsesPath, openai(`"connector_id":"connector_dropbox"`), openai(`"server_description":"https://evil.test/"`)},
		{site.ResponsesPath, openai(`"tunnel_id":"t"`), `{"model":"m","input":"hello","tools":[{"type":"function","name":"https://evil.test/","parameters":{"properties":{"url":{"type":"string"}}}}]}`},
		{site.MessagesPath, anthropic("https://evil.test/mcp"), anthropic("https://good.test/mcp")},
		{geminiPath, google("https://evil.test/mcp"), google("https://good.test/mcp")},
	} {
		sent := p.Count()
		answer := s.Ask(request.path, request.bad)
		assert.Equal(t, http.StatusBadRequest, answer.Status, request.bad)
		assert.Equal(t, sent, p.Count(), "no provider got it")
		assert.NotContains(t, s.Ask(request.path, request.good).Body, "rule 'mcp_urls'", request.good)
	}
	assert.Contains(t, s.Ask(site.ResponsesPath, openai(`"server_url":"https://evil.test/mcp"`)).Body, "rule 'mcp_urls'")
	s.AssertNoEntry("client-secret")
}
