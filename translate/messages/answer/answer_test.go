package answer_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

func TestAnswersHaveModelAndUsage(t *testing.T) {
	got, fault := answer.Inspect([]byte(`{"id":"msg_1","type":"message","role":"assistant","model":"claude\u002d5","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":12304,"cache_read_input_tokens":900,"output_tokens":550,"output_tokens_details":{"thinking_tokens":40},"service_tier":"standard"}}`), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, "claude-5", got.Model)
	assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 3, CacheRead: 900, CacheWrite: 12304, Answer: 510, Reasoning: 40}, Known: true}, got.Usage)
	assert.EqualValues(t, 13207, got.Usage.Input())

	got, fault = answer.Inspect([]byte(`{"content":[],"error":null,"usage":{"input_tokens":-5,"output_tokens":"x","cache_read_input_tokens":null}}`), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, token.Usage{Known: true, Inconsistent: true}, got.Usage, "a count below 0 was read as 0, with no mark")

	got, fault = answer.Inspect([]byte(`{"content":[]}`), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, signal.Answer{}, got)
}

// Ollama writes null for the content of an empty answer, and every client got 502.
func TestNullContentIsAnEmptyAnswer(t *testing.T) {
	body := []byte(`{"model":"tiny","content":null,"usage":{"input_tokens":12,"output_tokens":1}}`)
	got, fault := answer.Inspect(body, translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, signal.Answer{Model: "tiny", Usage: token.Usage{Counts: token.Counts{Fresh: 12, Answer: 1}, Known: true}}, got)
	var null, empty translatetest.Transcript
	answer.NewParser(&null).Answer(body)
	answer.NewParser(&empty).Answer(bytes.Replace(body, []byte("null"), []byte("[]"), 1))
	assert.Equal(t, empty.Lines, null.Lines)
}

func TestUnusableAnswersAreTheProvidersFault(t *testing.T) {
	for _, body := range []string{
		``, `<html>`, `null`, `[]`, `{}`, `{"content":"a"}`, `{"content":{}}`, `{"content":[]`, `{"content":[]}{}`,
		`{"choices":[{}]}`, `{"input_tokens":5}`, "{\"content\":[\"\xff\"]}",
	} {
		_, fault := answer.Inspect([]byte(body), translate.Generate)
		require.NotNil(t, fault, body)
		assert.Equal(t, "the upstream returned an unusable answer", fault.Message, body)
		assert.Equal(t, "upstream_invalid_response", fault.Code)
		assert.Equal(t, 502, formats.Of(translate.Messages).Errors.Status(fault))
	}
}

func TestErrorsInsideAnswersAreFaults(t *testing.T) {
	tests := []struct {
		body    string
		status  int
		message string
	}{
		{`{"type":"error","error":{"type":"overloaded_error","message":"no"}}`, 529, "no"},
		{`{"error":{"message":"no","code":503}}`, 529, "no"},
		{`{"type":"error"}`, 502, "the upstream reported an error"},
		{`{"content":[],"error":"no"}`, 502, "no"},
	}
	for _, tt := range tests {
		for _, op := range []translate.Operation{translate.Generate, translate.CountTokens} {
			_, fault := answer.Inspect([]byte(tt.body), op)
			require.NotNil(t, fault, tt.body)
			assert.Equal(t, tt.status, formats.Of(translate.Messages).Errors.Status(fault), tt.body)
			assert.Equal(t, tt.message, fault.Message)
		}
	}
}

// TestRepeatedMembersOfAnswersAreNoFault ensures that an answer which others
// can read is not refused: it is the client's to judge.
func TestRepeatedMembersOfAnswersAreNoFault(t *testing.T) {
	_, fault := answer.Inspect([]byte(`{"content":[],"x":1,"x":2}`), translate.Generate)
	assert.Nil(t, fault)
}

// An event that lacks its part has no content, so the answer has not begun: another provider
// may still be asked.
func TestEventsWithoutTheirPartAreNoContent(t *testing.T) {
	for _, event := range []string{
		`{"type":"content_block_start","index":0}`, `{"type":"content_block_start","index":0,"content_block":null}`,
		`{"type":"content_block_start","index":0,"content_block":"x"}`, `{"type":"content_block_start","index":0,"content_block":{}}`,
		`{"type":"content_block_delta","index":0}`, `{"type":"content_block_delta","index":0,"delta":"x"}`,
		`{"type":"message_delta","delta":null}`, `{"type":"message_start","message":[]}`,
	} {
		assert.Zero(t, answer.NewObserver().Observe(sse.Event{Data: []byte(event)}), event)
	}
	for _, block := range []string{`{"type":"tool_use"}`, `{"type":"new"}`, `{"text":"a"}`, `{"input":{"a":1}}`, `{"type":"thinking","signature":"s"}`} {
		event := sse.Event{Data: []byte(`{"type":"content_block_start","index":0,"content_block":` + block + `}`)}
		assert.Equal(t, signal.Content, answer.NewObserver().Observe(event), block)
	}
}

// The usage of the message and that of its event were two reports, which contradicted each other.
func TestTheUsageOfAnEventReplacesThatOfItsMessage(t *testing.T) {
	observer := answer.NewObserver()
	event := `{"type":"message_start","message":{"usage":{"input_tokens":100}},"usage":{"input_tokens":50}}`
	assert.Equal(t, signal.HasUsage, observer.Observe(sse.Event{Data: []byte(event)}))
	assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 50}, Known: true}, observer.Usage())
}

func BenchmarkObserveDelta(b *testing.B) {
	observer := answer.NewObserver()
	delta := sse.Event{
		Name: []byte("content_block_delta"),
		Data: []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if !observer.Observe(delta).Has(signal.Content) {
			b.Fatal("no content")
		}
	}
}
