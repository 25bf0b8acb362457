package clients

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func chats() openai.ChatCompletionService {
	return openai.NewChatCompletionService(
		option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(gatewayKey), option.WithMaxRetries(0))
}

// chatting is a request to a provider that speaks messages alone.
func chatting(change func(*openai.ChatCompletionNewParams), messages ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{Model: "messages-only", MaxCompletionTokens: openai.Int(4096), Messages: messages}
	if change != nil {
		change(&params)
	}
	return params
}

// accumulated reads a stream to its end as the vendor's accumulator does, which
// refuses chunks that contradict each other.
func accumulated(t *testing.T, params openai.ChatCompletionNewParams) (openai.ChatCompletionAccumulator, error) {
	t.Helper()
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	service := chats()
	stream := service.NewStreaming(t.Context(), params)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		require.True(t, all.AddChunk(stream.Current()), "%s", stream.Current().RawJSON())
	}
	return all, stream.Err()
}

func withTools(p *openai.ChatCompletionNewParams) {
	for _, name := range []string{"get_weather", "get_time"} {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: name, Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{}},
		}))
	}
}

func TestTranslatedChatStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		change func(*openai.ChatCompletionNewParams)
		finish string
		calls  int
	}{
		"text":           {"Compare a stream", nil, "stop", 0},
		"thinking":       {"[[think]] about primes", func(p *openai.ChatCompletionNewParams) { p.ReasoningEffort = "high" }, "stop", 0},
		"two calls":      {"call get_weather and call get_time", withTools, "tool_calls", 2},
		"a stop":         {"first second third", func(p *openai.ChatCompletionNewParams) { p.Stop.OfString = openai.String("second") }, "stop", 0},
		"a blank stop":   {"first second third", func(p *openai.ChatCompletionNewParams) { p.Stop.OfString = openai.String(" ") }, "stop", 0},
		"a budget":       {"Tell a long story", func(p *openai.ChatCompletionNewParams) { p.MaxCompletionTokens = openai.Int(3) }, "length", 0},
		"a refusal":      {"[[refuse]] this", nil, "content_filter", 0},
		"every sampling": {"Hints", func(p *openai.ChatCompletionNewParams) { p.Temperature, p.Seed = openai.Float(1.6), openai.Int(7) }, "stop", 0},
	} {
		t.Run(name, func(t *testing.T) {
			service := chats()
			plain, err := service.New(t.Context(), chatting(c.change, openai.UserMessage(c.prompt)))
			require.NoError(t, err)
			require.Len(t, plain.Choices, 1)
			all, err := accumulated(t, chatting(c.change, openai.UserMessage(c.prompt)))
			require.NoError(t, err)
			require.Len(t, all.Choices, 1)
			want, got := plain.Choices[0], all.Choices[0]
			assert.Equal(t, want.Message.Content, got.Message.Content)
			assert.Equal(t, want.Message.Refusal, got.Message.Refusal)
			assert.Equal(t, c.finish, want.FinishReason)
			assert.Equal(t, c.finish, got.FinishReason)
			require.Len(t, got.Message.ToolCalls, c.calls)
			require.Len(t, want.Message.ToolCalls, c.calls)
			for i, call := range want.Message.ToolCalls {
				assert.Equal(t, call.Function.Name, got.Message.ToolCalls[i].Function.Name)
				assert.JSONEq(t, call.Function.Arguments, got.Message.ToolCalls[i].Function.Arguments)
			}
			assert.Equal(t, plain.Usage.TotalTokens, all.Usage.TotalTokens)
			assert.Equal(t, plain.Model, all.Model)
		})
	}
}

func TestTranslatedChatToolLoopComesBackToTheProvider(t *testing.T) {
	messages := []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be terse."), openai.UserMessage("call get_weather and call get_time")}
	first, err := accumulated(t, chatting(withTools, messages...))
	require.NoError(t, err)
	messages = append(messages, first.Choices[0].Message.ToParam())
	for i, call := range first.Choices[0].Message.ToolCalls {
		messages = append(messages, openai.ToolMessage([]string{"sunny", "noon"}[i], call.ID))
	}
	service := chats()
	answer, err := service.New(t.Context(), chatting(withTools, messages...))
	require.NoError(t, err)
	assert.Contains(t, answer.Choices[0].Message.Content, `The tools answered: "sunny", "noon"`)
}

func TestTranslatedChatErrorsAreTyped(t *testing.T) {
	for prompt, status := range map[string]int{
		"[[fault:429]]": http.StatusTooManyRequests, "[[fault:529]]": http.StatusServiceUnavailable, "[[fault:500]]": http.StatusInternalServerError,
	} {
		service := chats()
		_, err := service.New(t.Context(), chatting(nil, openai.UserMessage(prompt)))
		var failure *openai.Error
		require.ErrorAs(t, err, &failure, prompt)
		assert.Equal(t, status, failure.StatusCode, prompt)
	}
	all, err := accumulated(t, chatting(nil, openai.UserMessage("[[fault:cut]] Tell a story that breaks off")))
	require.Error(t, err)
	assert.NotEmpty(t, all.Choices[0].Message.Content, "what came before arrived")
	assert.Empty(t, all.Choices[0].FinishReason)
}
