package clients

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A provider of messages gives one answer a call; the gateway makes as many as
// the client wants choices.
func TestSeveralChatChoicesAddUp(t *testing.T) {
	client := openai.NewClient(option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(gatewayKey), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: "messages-only", N: openai.Int(2), MaxTokens: openai.Int(256),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say it twice")},
	}
	plain, err := client.Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := client.Chat.Completions.NewStreaming(t.Context(), params)
	var streamed openai.ChatCompletionAccumulator
	for stream.Next() {
		require.True(t, streamed.AddChunk(stream.Current()), "the accumulator takes every chunk")
	}
	require.NoError(t, stream.Err())
	require.Len(t, plain.Choices, 2)
	require.Len(t, streamed.Choices, 2)
	for i, choice := range plain.Choices {
		assert.EqualValues(t, i, choice.Index)
		assert.Contains(t, choice.Message.Content, "Say it twice")
		assert.Equal(t, choice.Message.Content, streamed.Choices[i].Message.Content)
		assert.Equal(t, "stop", streamed.Choices[i].FinishReason)
	}
	assert.Equal(t, plain.Usage.TotalTokens, streamed.Usage.TotalTokens)
}
