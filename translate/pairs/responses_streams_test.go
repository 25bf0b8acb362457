package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// TestR020AMessageAndItsCallsAreOneChoice ensures that the items of a response become
// one answer: clients of chat look for the calls in the first choice only.
func TestR020AMessageAndItsCallsAreOneChoice(t *testing.T) {
	body := `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[` +
		`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},` +
		`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"x\":1}"},` +
		`{"type":"function_call","id":"fc_2","call_id":"call_2","name":"g","arguments":"{}"}]}`
	w := way{translate.Responses, translate.Chat}
	answer := decoded(t, answered(w, translate.AnswerContext{}, []byte(body)).out)
	choices := answer["choices"].([]any)
	require.Len(t, choices, 1)
	choice := choices[0].(client.Object)
	assert.Equal(t, "tool_calls", choice["finish_reason"])
	message := choice["message"].(client.Object)
	assert.Equal(t, "I look.", message["content"])
	assert.Len(t, message["tool_calls"], 2)
}

// textStreams are a short text as each other format streams it.
var textStreams = map[translate.Format]string{
	translate.Messages: string(messagesStream(
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
		`{"type":"message_stop"}`,
	)),
	translate.Chat: `data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}` + "\n\n" +
		`data: {"model":"m","choices":[{"index":0,"delta":{"content":"lo"}}]}` + "\n\n" +
		`data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	translate.Completions: `data: {"model":"m","choices":[{"index":0,"text":"Hel"}]}` + "\n\n" +
		`data: {"model":"m","choices":[{"index":0,"text":"lo","finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
}

// TestR028ATextIsAnnouncedBeforeItsDeltas spells out the events of a text: clients find
// a delta by the item and the part that were announced before it.
func TestR028ATextIsAnnouncedBeforeItsDeltas(t *testing.T) {
	for from, stream := range textStreams {
		w := way{from, translate.Responses}
		var got []string
		for i, e := range responseEvents(t, translated(w, translate.AnswerContext{Stream: true}, [][]byte{[]byte(stream)}, true).out) {
			assert.EqualValues(t, fmt.Sprint(i), fmt.Sprint(e["sequence_number"]), "%s: numbers have no gap", from)
			got = append(got, strings.TrimPrefix(e["type"].(string), "response."))
			for _, index := range []string{"output_index", "content_index"} {
				if position, there := e[index]; there {
					assert.Equal(t, "0", fmt.Sprint(position), "%s: %s of %s", from, index, e["type"])
				}
			}
		}
		assert.Equal(t, []string{
			"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
			"output_text.done", "content_part.done", "output_item.done", "completed",
		}, got, from)
	}
}

// responseEvents decodes a stream of the responses format.
func responseEvents(t *testing.T, stream string) (all []client.Object) {
	t.Helper()
	events, err := client.EmittedEvents([]byte(stream))
	require.NoError(t, err)
	for _, e := range events {
		all = append(all, decoded(t, e.Data))
	}
	return all
}

// towardsResponses calls check with the events of every recorded stream of the other
// formats, as a responses client gets it.
func towardsResponses(t *testing.T, check func(t *testing.T, events []client.Object)) {
	for _, r := range everyStream(t) {
		w := way{r.format, translate.Responses}
		if r.format == w.target {
			continue
		}
		t.Run(w.name()+"/"+r.name(), func(t *testing.T) {
			check(t, responseEvents(t, translated(w, w.remembered(true), [][]byte{r.bytes}, true).out))
		})
	}
}

// TestR029WhatIsAnnouncedIsEmptyAndWhole ensures that clients can parse what is
// announced: Codex drops items whose lists are missing, and parts without a text.
func TestR029WhatIsAnnouncedIsEmptyAndWhole(t *testing.T) {
	lists := map[string]string{"message": "content", "reasoning": "summary"}
	towardsResponses(t, func(t *testing.T, events []client.Object) {
		for _, e := range events {
			switch e["type"] {
			case "response.output_item.added":
				item := e["item"].(client.Object)
				if list, there := lists[item["type"].(string)]; there {
					assert.Equal(t, []any{}, item[list], list)
				}
			case "response.content_part.added", "response.reasoning_summary_part.added":
				part := e["part"].(client.Object)
				text, _ := strings.CutPrefix(part["type"].(string), "output_")
				assert.Equal(t, "", part[strings.TrimPrefix(text, "summary_")])
			}
		}
	})
}

// TestR030EndsHoldWhatTheDeltasAddUpTo ensures that the end of a text, of a summary and
// of arguments, and the item in the last event, hold the whole of it: clients keep those
// in place of what they added up.
func TestR030EndsHoldWhatTheDeltasAddUpTo(t *testing.T) {
	towardsResponses(t, func(t *testing.T, events []client.Object) {
		added, items := make(map[string]string), []any{}
		for _, e := range events {
			kind, _ := e["type"].(string)
			name, done := strings.CutSuffix(kind, ".done")
			name = strings.TrimSuffix(name, ".delta")
			place := fmt.Sprint(name, e["item_id"], e["content_index"], e["summary_index"])
			switch {
			case strings.HasSuffix(kind, ".delta"):
				added[place] += e["delta"].(string)
			case kind == "response.output_item.done":
				items = append(items, e["item"])
			case done && e["part"] == nil:
				assert.Contains(t, []any{e["text"], e["refusal"], e["arguments"], e["input"]}, added[place], kind)
			case kind == "response.completed", kind == "response.incomplete":
				assert.Equal(t, items, e["response"].(client.Object)["output"])
			}
		}
	})
}
