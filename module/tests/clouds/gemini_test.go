package clouds_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const geminiPath = "/v1beta/models/gemini-3-flash-preview:"

// newGemini starts a service that answers with a text, or with a signed call if there are tools
// and no result. It refuses keys elsewhere than in their header, and the results of calls
// without the signature.
func newGemini(t *testing.T) *cloud {
	return newCloud(t, func(c *gatewaytest.Call) string {
		r := c.Request
		raw, _ := io.ReadAll(r.Body)
		body := string(raw)
		method, ok := strings.CutPrefix(r.URL.EscapedPath(), geminiPath)
		switch {
		case r.Header.Get("X-Goog-Api-Key") != "k" || r.URL.Query().Has("key") || r.Header.Get("Authorization") != "":
			return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", "API key not valid."))
		case !ok || !json.Valid(raw):
			return refuse(c, http.StatusNotFound, googleError(404, "NOT_FOUND", "not found"))
		case strings.Contains(body, `"functionResponse"`) && !strings.Contains(body, `"thoughtSignature":"c2ln"`):
			return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature"))
		case method == "countTokens" && !strings.HasPrefix(body, `{"generateContentRequest":{"model":"models/`) && strings.Contains(body, `"systemInstruction"`):
			return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", `Unknown name "systemInstruction": Cannot find field.`))
		case method == "countTokens":
			return refuse(c, http.StatusOK, `{"totalTokens":7}`)
		}
		part := `{"text":"hello"}`
		if strings.Contains(body, `"functionDeclarations"`) && !strings.Contains(body, `"functionResponse"`) {
			part = `{"functionCall":{"id":"f1","name":"look","args":{"at":"it"}},"thoughtSignature":"c2ln"}`
		}
		answer := fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}],`+
			`"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"totalTokenCount":7},"modelVersion":"gemini-3-flash-preview","responseId":"r1"}`, part)
		if method == "streamGenerateContent" && r.URL.RawQuery == "alt=sse" {
			c.ResponseWriter.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(c.ResponseWriter, "data: "+answer+"\r\n\r\n")
			return ""
		}
		return refuse(c, http.StatusOK, answer)
	})
}

func startGemini(t *testing.T) (*site.Site, *cloud) {
	t.Setenv("GEMINI_API_KEY", "k")
	g := newGemini(t)
	return site.Start(t, g.provider("gemini {env.GEMINI_API_KEY}", "base_url "+g.URL), "model flash {\nto gemini/gemini-3-flash-preview\n}"), g
}

func TestK001K002ClientsOfAllFormatsUseGemini(t *testing.T) {
	s, g := startGemini(t)
	for _, path := range []string{site.MessagesPath, site.ChatPath, site.CompletionsPath, site.ResponsesPath} {
		reply := ask(s, path, "flash")
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, "hello")
		assert.Equal(t, geminiPath+"generateContent", g.lastPath())

		reply = s.Ask(path, site.BodyFor(path, "flash", "hello", true))
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.True(t, reply.Read(t, path).Complete, reply.Body)
		assert.Equal(t, geminiPath+"streamGenerateContent?alt=sse", g.lastPath())
		assert.NotContains(t, g.LastJSON(t), "stream")
	}
}

// The name of a model was escaped twice: the path contained a%2523b.
func TestK001TheNameOfAGeminiModelIsOneSegmentOfThePath(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "k")
	paths := make(chan string, 1)
	g := newCloud(t, func(c *gatewaytest.Call) string {
		paths <- c.Request.URL.EscapedPath()
		return refuse(c, http.StatusNotFound, googleError(404, "NOT_FOUND", "not found"))
	})
	s := site.Start(t, g.provider("gemini {env.GEMINI_API_KEY}", "base_url "+g.URL), "model odd {\nto gemini/a#b:z@1\n}")
	reply := ask(s, site.MessagesPath, "odd")
	assert.Equal(t, http.StatusNotFound, reply.Status, reply.Body)
	assert.Equal(t, "/v1beta/models/a%23b:z@1:generateContent", <-paths)
}

func TestK040TokensAreCountedByGeminiWithSystemAndTools(t *testing.T) {
	s, g := startGemini(t)
	reply := s.Ask("/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"hello"}],"system":"be brief","tools":[{"name":"look","input_schema":{"type":"object"}}],"model":"flash"}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.JSONEq(t, `{"input_tokens":7}`, reply.Body)
	assert.Equal(t, geminiPath+"countTokens", g.lastPath())
	assert.JSONEq(t, `{"generateContentRequest":{"model":"models/gemini-3-flash-preview","contents":[{"role":"user","parts":[{"text":"hello"}]}],`+
		`"systemInstruction":{"parts":[{"text":"be brief"}]},"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object"}}]}]}}`, g.lastBody())
}

// askForCall asks a model for a call in chat, and then sends its result with an assistant's
// message as the client has kept it.
func askForCall(t *testing.T, s *site.Site, keep func(call map[string]any)) site.Reply {
	t.Helper()
	ask := func(messages string) site.Reply {
		return s.Ask(site.ChatPath, `{"model":"flash","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"messages":[`+messages+`]}`)
	}
	const question = `{"role":"user","content":"look"}`
	reply := ask(question)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	var answer struct {
		Choices []struct {
			Message struct {
				ToolCalls []map[string]any `json:"tool_calls"`
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(reply.Body), &answer))
	call := answer.Choices[0].Message.ToolCalls[0]
	keep(call)
	kept, err := json.Marshal(call)
	require.NoError(t, err)
	return ask(question + `,{"role":"assistant","tool_calls":[` + string(kept) + `]},{"role":"tool","tool_call_id":"` + call["id"].(string) + `","content":"seen"}`)
}

// Clients of Google's chat endpoints have the signature of a call beside the call.
func TestK020ASignatureBesideACallOfChatReachesGemini(t *testing.T) {
	s, g := startGemini(t)
	for _, vendor := range []string{"google", "vertex"} {
		reply := askForCall(t, s, func(call map[string]any) {
			call["id"] = "made by another gateway"
			call["extra_content"] = map[string]any{vendor: map[string]string{"thought_signature": "c2ln"}}
		})
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Contains(t, g.lastBody(), `"args":{"at":"it"}},"thoughtSignature":"c2ln"}`)
	}
}

// Most clients of chat return nothing but the id, the name and the arguments of a call.
func TestK021TheGatewayRemembersSignaturesThatClientsDrop(t *testing.T) {
	s, g := startGemini(t)
	reply := askForCall(t, s, func(map[string]any) {})
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Contains(t, g.lastBody(), `"args":{"at":"it"}},"thoughtSignature":"c2ln"}`)

	reply = askForCall(t, s, func(call map[string]any) { call["id"] = "of another conversation" })
	assert.Equal(t, http.StatusBadRequest, reply.Status, reply.Body)
	assert.Contains(t, g.lastBody(), "skip_thought_signature_validator")
}

// A model refuses the result of its call without the signature that came with the call.
func TestAClientOfMessagesReturnsTheSignatureOfGemini(t *testing.T) {
	s, _ := startGemini(t)
	returnsTheSignature(t, s)
}

// returnsTheSignature checks that the model flash of a site gets the signature of its call with
// the result.
func returnsTheSignature(t *testing.T, s *site.Site) {
	t.Helper()
	const tools = `"tools":[{"name":"look","input_schema":{"type":"object","properties":{"at":{"type":"string"}}}}]`
	ask := func(messages string) site.Reply {
		return s.Ask(site.MessagesPath, `{"model":"flash","max_tokens":100,`+tools+`,"messages":[`+messages+`]}`)
	}
	const question = `{"role":"user","content":"look"}`
	reply := ask(question)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	var answer struct {
		Content    []json.RawMessage
		StopReason string `json:"stop_reason"`
	}
	require.NoError(t, json.Unmarshal([]byte(reply.Body), &answer))
	assert.Equal(t, "tool_use", answer.StopReason)
	var call struct{ ID string }
	require.NoError(t, json.Unmarshal(answer.Content[len(answer.Content)-1], &call))
	content, err := json.Marshal(answer.Content)
	require.NoError(t, err)
	reply = ask(question + `,{"role":"assistant","content":` + string(content) + `},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + call.ID + `","content":"seen"}]}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Contains(t, reply.Body, "hello")
}

// A refused request once crashed the call, since the format had no status for errors.
func TestClientsReadTheErrorsOfGeminiInTheirFormat(t *testing.T) {
	const badKey = `{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`
	for name, tt := range map[string]struct {
		upstream     string
		status, want int
		text         string
	}{
		"invalid":    {googleError(400, "INVALID_ARGUMENT", "no such field"), http.StatusBadRequest, http.StatusBadRequest, "no such field"},
		"bad key":    {badKey, http.StatusBadRequest, http.StatusBadGateway, "did not accept the gateway's credential"},
		"overloaded": {googleError(503, "UNAVAILABLE", "overloaded"), http.StatusServiceUnavailable, 0, "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GEMINI_API_KEY", "k")
			g := newCloud(t, func(c *gatewaytest.Call) string { return refuse(c, tt.status, tt.upstream) })
			s := site.Start(t, g.provider("gemini {env.GEMINI_API_KEY}", "base_url "+g.URL), "model flash {\nto gemini/gemini-3-flash-preview\n}")
			for _, path := range site.CallPaths {
				for _, stream := range []bool{false, true} {
					reply := s.Ask(path, site.BodyFor(path, "flash", "hello", stream))
					assert.GreaterOrEqual(t, reply.Status, http.StatusBadRequest)
					if tt.want != 0 { // clients of messages read another status for an overload
						assert.Equal(t, tt.want, reply.Status, reply.Body)
					}
					assert.Contains(t, reply.Body, tt.text)
					assert.NotContains(t, reply.Body, "API key not valid")
				}
			}
		})
	}
}
