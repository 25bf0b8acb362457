package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/toolrunner"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chatOnly is a model whose provider speaks chat alone and refuses every field
// that is not of its format.
const chatOnly = "chat-only"

// fields are members of a request.
type fields map[string]any

// request is one with these messages, or one user turn when they are a text.
func request(t *testing.T, messages any, more fields) []byte {
	t.Helper()
	if prompt, ok := messages.(string); ok {
		messages = []any{userTurn(prompt)}
	}
	body := fields{"model": chatOnly, "max_tokens": 1024, "messages": messages}
	maps.Copy(body, more)
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	return raw
}

func userTurn(content any) fields { return fields{"role": "user", "content": content} }

func toolNamed(name string, properties fields) fields {
	required := []string{}
	for property := range properties {
		required = append(required, property)
	}
	schema := fields{"type": "object", "properties": properties, "required": required}
	return fields{"name": name, "description": "Gives " + name, "input_schema": schema, "cache_control": fields{"type": "ephemeral"}}
}

var twoTools = fields{"tools": []any{
	toolNamed("get_weather", fields{"city": fields{"type": "string"}}),
	toolNamed("get_time", fields{}),
}}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func TestTranslatedStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	eachMajor(t, func(t *testing.T, m major) {
		for name, c := range map[string]struct {
			prompt     string
			more       fields
			stopReason string
		}{
			"text":                 {"Compare a stream with a plain answer", nil, "end_turn"},
			"every hint":           {"Hints", fields{"top_k": 4, "metadata": fields{"user_id": "someone"}, "system": []any{fields{"type": "text", "text": "Be kind.", "cache_control": fields{"type": "ephemeral"}}}}, "end_turn"},
			"thinking before text": {"[[think]] about primes", nil, "end_turn"},
			"thinking, then calls": {"[[think]] and call get_weather and call get_time", twoTools, "tool_use"},
			"the end of a budget":  {"Tell a long story about a river", fields{"max_tokens": 3}, "max_tokens"},
			"a refusal":            {"[[refuse]] this", nil, "refusal"},
		} {
			t.Run(name, func(t *testing.T) {
				plain, err := m.create(t.Context(), request(t, c.prompt, c.more))
				require.NoError(t, err)
				streamed, err := m.stream(t.Context(), request(t, c.prompt, c.more))
				require.NoError(t, err)
				assert.Equal(t, plain.unmarked(), streamed.unmarked())
				assert.Equal(t, c.stopReason, plain.StopReason)
				assert.NotEmpty(t, plain.Blocks)
				assert.Positive(t, plain.Input)
				assert.Positive(t, plain.Output)
			})
		}
	})
}

func TestTranslatedToolLoopOfThreeTurnsCarriesCallsImagesErrorsAndThinking(t *testing.T) {
	eachMajor(t, func(t *testing.T, m major) {
		messages := []any{userTurn("call get_weather and call get_time")}
		ask := func() *turn {
			answer, err := m.stream(t.Context(), request(t, messages, twoTools))
			require.NoError(t, err)
			messages = append(messages, answer.Param)
			return answer
		}

		calls := ask().calls()
		require.Len(t, calls, 2)
		assert.Equal(t, "get_weather", calls[0].Name)
		assert.JSONEq(t, `{"city":"demo city"}`, string(calls[0].Input))
		assert.Equal(t, "get_time", calls[1].Name)
		assert.JSONEq(t, `{}`, string(calls[1].Input))
		assert.NotEqual(t, calls[0].ID, calls[1].ID)

		photo := fields{"type": "image", "source": fields{"type": "base64", "media_type": "image/png", "data": pixel}}
		messages = append(messages, userTurn([]any{
			fields{"type": "tool_result", "tool_use_id": calls[0].ID, "content": []any{photo}},
			fields{"type": "tool_result", "tool_use_id": calls[1].ID, "content": "no clock here", "is_error": true},
			fields{"type": "text", "text": "[[think]] Now call get_time once more"},
		}))
		second := ask()
		assert.Equal(t, "thinking", second.Blocks[0].Type)
		assert.Contains(t, second.Blocks[0].Signature, "gwts1:")
		calls = second.calls()
		require.Len(t, calls, 1)

		messages = append(messages, userTurn([]any{fields{"type": "tool_result", "tool_use_id": calls[0].ID, "content": "no clock here", "is_error": true}}))
		third := ask()
		assert.Equal(t, "end_turn", third.StopReason)
		assert.Contains(t, third.text(), `The tools answered: "Error: no clock here"`)

		messages = append(messages, userTurn("What was there?"))
		assert.Contains(t, ask().text(), "2 tools, 1 attachment.")
	})
}

func TestTranslatedErrorsAreTyped(t *testing.T) {
	eachMajor(t, func(t *testing.T, m major) {
		for _, c := range []struct {
			prompt     string
			more       fields
			status     int
			kind       string
			retryAfter string
			message    string
		}{
			{"[[fault:429 retry-after=7]]", nil, http.StatusTooManyRequests, "rate_limit_error", "7", "this error was asked for by the prompt"},
			{"[[fault:503]]", nil, 529, "overloaded_error", "", "this error was asked for by the prompt"},
			{"[[fault:401]]", nil, http.StatusBadGateway, "api_error", "", ""},
			{"[[fault:404]]", nil, http.StatusNotFound, "not_found_error", "", "this error was asked for by the prompt"},
			{"[[fault:html]]", nil, http.StatusBadGateway, "api_error", "", "the upstream answered with status 502 and no usable error body"},
			{"Hi", fields{"thread": fields{"type": "create"}}, http.StatusBadRequest, "invalid_request_error", "", "thread: cannot be translated for model 'chat-only' (upstream format chat)"},
			{"Hi", fields{"inference_geo": "eu"}, http.StatusBadRequest, "invalid_request_error", "", "inference_geo: cannot be translated for model 'chat-only' (upstream format chat)"},
		} {
			_, plain := m.create(t.Context(), request(t, c.prompt, c.more))
			_, streamed := m.stream(t.Context(), request(t, c.prompt, c.more))
			for _, err := range []error{plain, streamed} {
				got := refusalOf(t, err)
				about := fmt.Sprint(c.prompt, c.more, got.body)
				assert.Equal(t, c.status, got.status, about)
				assert.Equal(t, c.kind, got.kind, about)
				assert.Equal(t, c.retryAfter, got.response.Header.Get("Retry-After"), about)
				assert.Contains(t, got.body, c.message)
				assert.Regexp(t, requestID, got.id)
			}
		}
	})
}

func TestTranslatedStreamThatFailsMidwayIsNeverFinished(t *testing.T) {
	eachMajor(t, func(t *testing.T, m major) {
		for _, fault := range []string{"cut", "no-finish", "error-event", "garbage"} {
			message, err := m.stream(t.Context(), request(t, "[[fault:"+fault+"]] Tell a story that breaks off", nil))
			assert.NotEmpty(t, refusalOf(t, err).kind, fault)
			assert.Empty(t, message.StopReason, fault)
		}
	})
}

func TestCancelledContextEndsTheTranslatedStream(t *testing.T) {
	client := newClient()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := client.Messages.NewStreaming(ctx, ask("[[words:2000]] Tell a story that nobody hears", func(p *anthropic.MessageNewParams) { p.Model = chatOnly }))
	for stream.Next() {
		if stream.Current().Type == "content_block_delta" {
			cancel()
		}
	}
	require.ErrorIs(t, stream.Err(), context.Canceled)
	_, err := createTwo(t.Context(), request(t, "Still there?", nil))
	assert.NoError(t, err)
}

// The runner first asks for a thread that the provider keeps. Told that there
// is none, it goes on with whole conversations.
func TestToolRunnerGoesOnWithoutAThread(t *testing.T) {
	for _, model := range []anthropic.Model{chatOnly, "messages-only", model} {
		t.Run(string(model), func(t *testing.T) {
			type place struct {
				City string `json:"city" jsonschema:"required"`
			}
			var asked []string
			tool, err := toolrunner.NewBetaToolFromJSONSchema("get_weather", "Gives the weather", func(_ context.Context, p place) (anthropic.BetaToolResultBlockParamContentUnion, error) {
				asked = append(asked, p.City)
				return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: "sunny"}}, nil
			})
			require.NoError(t, err)
			client := newClient()
			runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{
				BetaMessageNewParams: anthropic.BetaMessageNewParams{
					Model: model, MaxTokens: 1024,
					Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("call get_weather"))},
				},
				MaxIterations: 5,
			})
			last, err := runner.RunToCompletion(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"demo city"}, asked)
			assert.Contains(t, last.Content[0].Text, `The tools answered: "sunny"`)
		})
	}
}
