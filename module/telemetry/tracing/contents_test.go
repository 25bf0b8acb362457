package tracing_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// The callback of another gateway for Langfuse had left out calls of tools, their results, and
// instructions.
func TestContentsHaveTheFormOfTheConventions(t *testing.T) {
	texts := []aigateway.GuardText{
		{Kind: aigateway.GuardSystem, Text: "be brief"},
		{Kind: aigateway.GuardTool, Name: "read", Text: "reads a file"},
		{Kind: aigateway.GuardUser, Text: "read a & b"},
		{Kind: aigateway.GuardUser, Group: 1, Text: "now"},
		{Kind: aigateway.GuardReasoning, Text: "hm"},
		{Kind: aigateway.GuardAssistant, Text: "I read"},
		{Kind: aigateway.GuardCall, Name: "read", Text: `{"path":"a"}`},
		{Kind: aigateway.GuardCall, Name: "read", Text: `{"path":"b…`}, // cut by max_size
		{Kind: aigateway.GuardToolResult, Text: "the text of a"},
		{Kind: aigateway.GuardOther, Text: "some metadata"},
	}
	whole := &exchange.Result{State: exchange.Finished, EndedBy: event.FinishTools}
	spans := record(t, func(ctx context.Context) {
		assert.True(t, tracing.IsRecorded(ctx))
		tracing.RequestContent(ctx, texts)
		tracing.AnswerContent(ctx, texts[5:7], whole)
	})
	all := attributes(spans[0])
	assert.JSONEq(t, `[{"type":"text","content":"be brief"}]`, all["gen_ai.system_instructions"].(string))
	assert.JSONEq(t, `[
		{"role":"user","parts":[{"type":"text","content":"read a & b"},{"type":"text","content":"now"}]},
		{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"I read"},
			{"type":"tool_call","name":"read","arguments":{"path":"a"}},{"type":"tool_call","name":"read","arguments":"{\"path\":\"b…"}]},
		{"role":"tool","parts":[{"type":"tool_call_response","response":"the text of a"}]}
	]`, all["gen_ai.input.messages"].(string))
	assert.JSONEq(t, `[{"role":"assistant","parts":[{"type":"text","content":"I read"},{"type":"tool_call","name":"read","arguments":{"path":"a"}}],"finish_reason":"tool_call"}]`,
		all["gen_ai.output.messages"].(string))
	assert.Len(t, all, 3)
}

func TestAnAnswerThatBrokeOffEndsWithAnError(t *testing.T) {
	answer := []aigateway.GuardText{{Kind: aigateway.GuardAssistant, Text: "half"}}
	for finish, result := range map[string]*exchange.Result{
		"error": {State: exchange.Broken}, "stop": {State: exchange.Finished}, "length": {State: exchange.Finished, EndedBy: event.FinishLength},
	} {
		spans := record(t, func(ctx context.Context) { tracing.AnswerContent(ctx, answer, result) })
		assert.Contains(t, attributes(spans[0])["gen_ai.output.messages"], `"finish_reason":"`+finish+`"`)
	}
	left := &exchange.Result{State: exchange.Finished, Reading: exchange.Reading{Unread: true}}
	spans := record(t, func(ctx context.Context) { tracing.AnswerContent(ctx, answer, left) })
	assert.Contains(t, attributes(spans[0])["gen_ai.output.messages"], `"finish_reason":"error"`, "the client has left")
	assert.False(t, tracing.IsRecorded(t.Context()))
	tracing.AnswerContent(t.Context(), answer, nil)
}
