package guardrails

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The oldest texts filled a record: of a long conversation, the question that was answered never showed, and
// neither did instructions that come behind it in the body.
func TestARecordKeepsInstructionsAndTheNewestTexts(t *testing.T) {
	all := func() []aigateway.GuardText {
		return []aigateway.GuardText{
			{Kind: aigateway.GuardUser, Text: "old question"},
			{Kind: aigateway.GuardAssistant, Text: "old answer é"},
			{Kind: aigateway.GuardCall, Text: "{}"},
			{Kind: aigateway.GuardToolResult, Text: "result"},
			{Kind: aigateway.GuardUser, Text: "question"},
			{Kind: aigateway.GuardTool, Text: "description"},
			{Kind: aigateway.GuardSystem, Text: "be brief"},
			{Kind: aigateway.GuardOther, Text: "some data"},
		}
	}
	for limit, want := range map[int][]string{
		1000: {"old question", "old answer é", "{}", "result", "question", "description", "be brief", "some data"},
		60:   {"old question", "old answer é", "{}", "result", "question", "description", "be brief", "…"},
		36:   {"old answer …", "{}", "result", "question", "…", "be brief"},
		20:   {"{…", "result", "question", "…", "be br…"},
	} {
		var got []string
		for _, text := range bounded(all(), limit) {
			got = append(got, text.Text)
		}
		assert.Equal(t, want, got, limit)
	}
	long := bounded([]aigateway.GuardText{{Kind: aigateway.GuardUser, Text: "a long question"}}, 6)
	assert.Equal(t, "a long…", long[0].Text)
}
