package clients

import (
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func withWeather(p *anthropic.MessageNewParams) {
	p.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: "get_weather",
		InputSchema: anthropic.ToolInputSchemaParam{
			Properties: map[string]any{
				"city": map[string]any{"type": "string"},
				"days": map[string]any{"type": "integer"},
			},
			Required: []string{"city", "days"},
		},
	}}}
}

// call returns the one tool call of an answer.
func call(t *testing.T, message anthropic.Message) anthropic.ContentBlockUnion {
	t.Helper()
	for _, block := range message.Content {
		if block.Type == "tool_use" {
			return block
		}
	}
	require.Fail(t, "the answer calls no tool")
	return anthropic.ContentBlockUnion{}
}

func TestStreamedToolCallHasAnInputThatFitsItsSchema(t *testing.T) {
	message, err := accumulate(t, newClient(), ask("Please call get_weather", withWeather))
	require.NoError(t, err)
	assert.Equal(t, anthropic.StopReasonToolUse, message.StopReason)
	block := call(t, message)
	assert.Equal(t, "get_weather", block.Name)
	var input struct {
		City *string
		Days *int
	}
	require.NoError(t, json.Unmarshal(block.Input, &input))
	assert.NotNil(t, input.City)
	assert.NotNil(t, input.Days)
}

func TestToolLoopEndsWithAnAnswerThatUsesTheResult(t *testing.T) {
	client := newClient()
	params := ask("Please call get_weather", withWeather)
	first, err := accumulate(t, client, params)
	require.NoError(t, err)
	params.Messages = append(params.Messages, first.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock(call(t, first).ID, "sunny, 21 degrees", false)))
	second, err := accumulate(t, client, params)
	require.NoError(t, err)
	assert.Equal(t, anthropic.StopReasonEndTurn, second.StopReason)
	assert.Contains(t, text(&second), "sunny, 21 degrees")
}
