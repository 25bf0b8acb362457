package translation_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// captured is what of a recorded request must reach the provider.
type captured struct {
	System   json.RawMessage
	Messages []struct{ Content json.RawMessage }
	Tools    []struct {
		Name, Description string
		InputSchema       json.RawMessage `json:"input_schema"`
	}
	MaxTokens int `json:"max_tokens"`
}

// texts are the texts that a content holds: of text blocks and of tool results.
func texts(t *testing.T, content json.RawMessage) (list []string) {
	t.Helper()
	if len(content) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var blocks []struct {
		Type, Text string
		Content    json.RawMessage
	}
	require.NoError(t, json.Unmarshal(content, &blocks))
	for _, b := range blocks {
		switch b.Type {
		case "text":
			list = append(list, b.Text)
		case "tool_result":
			list = append(list, texts(t, b.Content)...)
		}
	}
	return list
}

// A provider of chat that refuses every unknown field, and every call of a tool
// that is not answered at once, takes what a coding agent really sends.
func TestCapturedRequestsAreServedByAStrictProviderOfChat(t *testing.T) {
	captures := site.Captures(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "attribution keep", "format chat", "models none"), "model * {\nto p/vendor-m\n}")
		for _, c := range captures {
			t.Run(c.Name, func(t *testing.T) {
				before := p.Count()
				response := s.Replay(c)
				defer func() { _ = response.Body.Close() }()
				require.Equal(t, http.StatusOK, response.StatusCode)
				if strings.Contains(c.Path, "count_tokens") {
					assertEstimated(t, response)
					assert.Equal(t, before, p.Count(), "nobody is asked to count")
					return
				}
				assert.True(t, site.ReadReply(response).Read(t, site.MessagesPath).Complete)
				requests := p.Requests()
				require.Len(t, requests, before+1)
				assertCarriedOver(t, c, requests[before].Body)
			})
		}
	})
}

func assertEstimated(t *testing.T, response *http.Response) {
	t.Helper()
	assert.Equal(t, "true", response.Header.Get("X-Gateway-Estimate"))
	var count struct {
		InputTokens int `json:"input_tokens"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&count))
	assert.Greater(t, count.InputTokens, 1000)
}

// assertCarriedOver demands that the chat request holds every text, tool and
// bound of the capture, and nothing that chat does not know.
func assertCarriedOver(t *testing.T, c site.Capture, body []byte) {
	t.Helper()
	var source captured
	require.NoError(t, json.Unmarshal(c.Body, &source))
	var sent struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Messages  []struct{ Role string }
		Tools     []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	require.NoError(t, json.Unmarshal(body, &sent))
	assert.Equal(t, "vendor-m", sent.Model)
	assert.Equal(t, source.MaxTokens, sent.MaxTokens)
	assert.Equal(t, "system", sent.Messages[0].Role)
	all := strings.Join(stringsIn(t, body), "\x00")
	contents := []json.RawMessage{source.System}
	for _, m := range source.Messages {
		contents = append(contents, m.Content)
	}
	for _, content := range contents {
		for _, text := range texts(t, content) {
			assert.Contains(t, all, text)
		}
	}
	require.Len(t, sent.Tools, len(source.Tools))
	for i, tool := range source.Tools {
		assert.Equal(t, tool.Name, sent.Tools[i].Function.Name)
		assert.Equal(t, tool.Description, sent.Tools[i].Function.Description)
		assert.Equal(t, string(tool.InputSchema), string(sent.Tools[i].Function.Parameters), "a schema is copied as it is")
	}
	for _, foreign := range []string{`"cache_control"`, `"defer_loading"`, `"thinking"`, `"signature"`, `"context_management"`, `"output_config"`, `"metadata"`} {
		assert.NotContains(t, withoutSchemas(t, body), foreign)
	}
}

// stringsIn are all strings of a JSON value.
func stringsIn(t *testing.T, raw []byte) (list []string) {
	t.Helper()
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var value any
	require.NoError(t, json.Unmarshal(raw, &value))
	walk(value)
	return list
}

// withoutSchemas is a chat request whose tools have no parameters: the names in
// there are the client's own.
func withoutSchemas(t *testing.T, body []byte) string {
	t.Helper()
	var request map[string]any
	require.NoError(t, json.Unmarshal(body, &request))
	for _, tool := range request["tools"].([]any) {
		delete(tool.(map[string]any)["function"].(map[string]any), "parameters")
	}
	raw, err := json.Marshal(request)
	require.NoError(t, err)
	return string(raw)
}
