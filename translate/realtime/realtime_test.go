package realtime

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A gateway that reads only the first member of a name lets a client have the model of the second one.
func TestMessagesOfClients(t *testing.T) {
	for text, want := range map[string]Request{
		`{"type":"input_audio_buffer.append","audio":"AAAA"}`:                                                               {Type: "input_audio_buffer.append", Audio: 6},
		`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"whisper-1"}}}}}`: {Type: "session.update", Others: []string{"whisper-1"}},
		`{"type":"session.update","session":{"input_audio_transcription":{"model":"whisper-1"}}}`:                           {Type: "session.update", Others: []string{"whisper-1"}},
		`{"response":{"model":"no session"},"type":"response.create"}`:                                                      {Type: "response.create"},
		`{"type":"session.start","session":{"delegation":{"responses":{"model":"a","tools":[]}},"triggers":[{"decisions":{"model":"b"}},{}]}}`: {
			Type: "session.start", First: true, Others: []string{"a", "b"}, Tasks: [][]byte{[]byte(`{"input":"task","model":"a","tools":[]}`)},
		},
		// Options with an input of their own, and without any member, were read as if they were not valid.
		`{"type":"session.update","session":{"delegation":{"responses":{"input":[]}}}}`: {Type: "session.update", Tasks: [][]byte{[]byte(`{"input":[]}`)}},
		`{"type":"session.update","session":{"delegation":{"responses":{ }}}}`:          {Type: "session.update", Tasks: [][]byte{[]byte(`{"input":"task"}`)}},
		`{"item":{"type":"message"},"type":"response.item.create"}`:                     {Type: "response.item.create", Tasks: [][]byte{[]byte(`{"model":"task","input":[{"type":"message"}]}`)}},
	} {
		got, err := Read([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	const named = `{"session":{"model": "gpt"},"type":"session.update"}`
	got, err := Read([]byte(named))
	assert.NoError(t, err)
	assert.Equal(t, `"gpt"`, named[got.Model.Start:got.Model.End])
	for _, text := range []string{``, `[]`, `{}`, `{"type":1}`, `{"type":"a"} {}`, `{"type":"a","type":"b"}`, `{"type":"a","session":{"model":"a","model":"b"}}`, `{"type":"a"`,
		`{"type":"a","session":{"delegation":{"responses":{"model":"a","model":"b"}}}}`, `{"type":"a","session":{"triggers":[{"decisions":{"model":"a","model":"b"}}]}}`} {
		_, err := Read([]byte(text))
		assert.Error(t, err, text)
	}
}

// A template of a prompt, a file and a response of the account were taken from any client.
func TestMessagesOfClientsReferToObjects(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"session.update","session":{"prompt":{"id":"pmpt_1"}}}`:                                                                 "session.prompt",
		`{"type":"response.create","response":{"prompt":{"id":"pmpt_1"}}}`:                                                               "response.prompt",
		`{"type":"response.create","response":{"conversation":"conv_1"}}`:                                                                "conversation",
		`{"type":"conversation.item.create","item":{"type":"message","content":[{"type":"input_image","file_id":"file-1"}]}}`:            "file_id",
		`{"type":"other","x":{"vector_store_ids":["vs_1"]}}`:                                                                             "vector_store_ids",
		`{"type":"other","previous_response_id":"resp_1"}`:                                                                               "previous_response_id",
		`{"type":"response.cancel","response_id":"resp_1"}`:                                                                              "",
		`{"type":"response.create","response":{"conversation":"none","prompt":null,"input":[{"type":"item_reference","id":"item_1"}]}}`:  "", // an item of the conversation
		`{"type":"session.update","session":{"prompt":null,"audio":{"input":{"transcription":{"model":"whisper-1","prompt":"words"}}}}}`: "",
		`{"type":"other","x":{"prompt":{"id":"pmpt_1"}}}`:                                                                                "prompt", // in a place that the gateway does not know
		`{"type":"session.update","session":{"tools":[{"parameters":{"properties":{"prompt":{"id":"a","type":"item_reference"}}}}]}}`:    "",
	} {
		got, err := Read([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, want, got.Unowned, text)
	}
	// Items of the account, which the Live API of OpenAI has beside those of the conversation, were named by messages
	// that are not known to be tasks.
	for text, want := range map[string]string{
		`{"type":"conversation.item.create","item":{"type":"item_reference","id":"msg_1"}}`:    "item_reference",
		`{"type":"other","items":[[{"id":"msg_1","Type":"item\u005freference"}]]}`:             "item_reference",
		`{"type":"other","input":[{"type":"item_reference","id":"msg_1"}]}`:                    "item_reference",
		`{"type":"other","items":[{"type":"message","id":"msg_1"},{"type":"item_reference"}]}`: "",
		`{"type":"other","item":{"arguments":{"type":"item_reference","id":"a"}}}`:             "",
	} {
		got, err := Live.Read([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, want, got.Unowned, text)
	}
	for text, want := range map[string]string{ // as tasks
		`{"type":"response.create","response":{}}`:                             `{"model":"task","input":"task"}`,
		`{"type":"response.create","response":{"input":[],"model":"thinker"}}`: `{"input":[],"model":"thinker"}`,
		`{"type":"x","response":{"instructions":"a"}}`:                         `{"model":"task","input":"task","instructions":"a"}`,
	} {
		got, err := Live.Read([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, [][]byte{[]byte(want)}, got.Tasks, text)
	}
}

func TestMessagesOfProviders(t *testing.T) {
	for text, want := range map[string]Event{
		`{"type":"response.output_audio.delta","delta":"AAAA","response_id":"resp_1"}`:                       {Kind: Delta, Response: "resp_1", Tokens: 1},
		`{"type":"response.output_text.delta","delta":"twelve bytes","response_id":"resp_1"}`:                {Kind: Delta, Response: "resp_1", Tokens: 4},
		`{"type":"response.audio.delta","delta":"` + strings.Repeat("A", 6400) + `","response_id":"resp_1"}`: {Kind: Delta, Response: "resp_1", Tokens: 3},
		`{"type":"response.text.delta","delta":"twelve bytes","response_id":"resp_1"}`:                       {Kind: Delta, Response: "resp_1", Tokens: 4},
		`{"type":"response.created","response":{"id":"resp_1","usage":null}}`:                                {Kind: Created, Response: "resp_1"},
		`{"type":"response.done","response":{"id":"resp_1","status":"failed"}}`:                              {Kind: Done, Response: "resp_1", Failed: true},
		`{"type":"response.done","response":{"id":"resp_1","status":"cancelled","usage":{"total_tokens":30,"input_tokens":20,"output_tokens":10,
			"input_token_details":{"cached_tokens":8,"text_tokens":12,"audio_tokens":6,"image_tokens":2,"cached_tokens_details":{"image_tokens":1,"audio_tokens":4}},"output_token_details":{"audio_tokens":9}}}}`: {
			Kind: Done, Response: "resp_1", Usage: token.Usage{
				Known: true, Counts: token.Counts{Fresh: 12, CacheRead: 8, Answer: 10},
				Units: token.Units{ImageTokens: token.MediaTokens{Input: 2, CacheRead: 1}, AudioTokens: token.MediaTokens{Input: 6, CacheRead: 4, Output: 9}},
			},
		},
		`{"type":"conversation.item.input_audio_transcription.completed","usage":{"type":"duration","seconds":2.1}}`: {
			Kind: Beside, Operation: translate.Transcribe, Usage: token.Usage{Known: true, Units: token.Units{Seconds: 3}},
		},
	} {
		assert.Equal(t, want, ReadEvent([]byte(text)), text)
	}
}

// A conversation of the Live API has no responses: a gateway that waits for one charges nothing.
func TestMessagesOfTheLiveAPI(t *testing.T) {
	for text, want := range map[string]Event{
		`{"type":"session.started","session":{"id":"live_1","model":"gpt-live-1"}}`:                      {Kind: Created},
		`{"type":"session.usage.updated","usage":{"seconds":59.2},"context_window":{"usage_ratio":0.1}}`: {Kind: Elapsed, Usage: token.Usage{Known: true, Units: token.Units{Seconds: 60}}},
		`{"type":"session.closed","reason":"expired","session":{},"usage":{"seconds":61}}`:               {Kind: Ended, Usage: token.Usage{Known: true, Units: token.Units{Seconds: 61}}},
		`{"type":"response.event","event":{"type":"response.output_text.delta","delta":"a"}}`:            {Kind: Beside},
		`{"type":"response.event","event":{"type":"response.output_item.done","item":{"type":"web_search_call"}}}`: {
			Kind: Beside, Operation: translate.Generate, Searches: 1,
		},
		`{"type":"response.event","event":{"type":"response.completed","response":{"model":"gpt-5.5-2026","service_tier":"priority","usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":8},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":4}}}}}`: {
			Kind: Beside, Operation: translate.Generate, Model: "gpt-5.5-2026", Usage: token.Usage{Known: true, Terms: token.Priority, Counts: token.Counts{Fresh: 12, CacheRead: 8, Answer: 6, Reasoning: 4}},
		},
		`{"type":"decision.event","event":{"type":"decision.completed","decision":{"model":"d","usage":{"input_tokens":2,"output_tokens":1}}}}`: {
			Kind: Beside, Operation: translate.Decide, Model: "d", Usage: token.Usage{Known: true, Counts: token.Counts{Fresh: 2, Answer: 1}},
		},
	} {
		assert.Equal(t, want, Live.ReadEvent([]byte(text)), text)
		assert.Equal(t, Event{}, ReadEvent([]byte(text)), "%s: the Realtime API has no such message", text)
	}
}
