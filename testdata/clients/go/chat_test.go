package clients

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAChatStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	client := openai.NewClient(option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(gatewayKey), option.WithMaxRetries(0))
	for _, model := range []string{"demo", "messages-only"} {
		params := openai.ChatCompletionNewParams{
			Model:         model,
			N:             openai.Int(2),
			Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("call get_weather")},
			StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
			Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
				Name: "get_weather", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{}},
			})},
		}
		stream := client.Chat.Completions.NewStreaming(t.Context(), params)
		var streamed openai.ChatCompletionAccumulator
		for stream.Next() {
			require.True(t, streamed.AddChunk(stream.Current()), stream.Current().RawJSON())
		}
		require.NoError(t, stream.Err())
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
		plain, err := client.Chat.Completions.New(t.Context(), params)
		require.NoError(t, err)
		require.Len(t, streamed.Choices, 2)
		for i, want := range plain.Choices {
			got := streamed.Choices[i]
			assert.Equal(t, "tool_calls", got.FinishReason)
			assert.Equal(t, want.Message.Content, got.Message.Content)
			require.Len(t, got.Message.ToolCalls, 1)
			assert.Equal(t, want.Message.ToolCalls[0].Function.Arguments, got.Message.ToolCalls[0].Function.Arguments)
		}
		assert.Equal(t, plain.Usage.TotalTokens, streamed.Usage.TotalTokens)
	}
}
