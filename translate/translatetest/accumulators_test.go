package translatetest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

const (
	start = "event: message_start\n" + `data: {"type":"message_start","message":{"id":"i","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":0}}}` + "\n\n"
	open  = "event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"
	says  = "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n"
	shut  = "event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n"
	ends  = "event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}` + "\n\n"
	stop  = "event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
)

func TestMessageRefusesWhatClientsRefuse(t *testing.T) {
	good := start + open + says + shut + ends + stop
	_, err := translatetest.Message([]byte(good))
	assert.NoError(t, err)
	for name, broken := range map[string]string{
		"two starts":               start + good,
		"no start":                 open + says + shut + ends + stop,
		"a gap in the indices":     strings.ReplaceAll(good, `"index":0`, `"index":1`),
		"a block begun twice":      start + open + open + says + shut + ends + stop,
		"a delta behind the stop":  start + open + says + shut + says + ends + stop,
		"a delta of another kind":  strings.Replace(good, "text_delta", "thinking_delta", 1),
		"an empty text":            start + open + shut + ends + stop,
		"text in the start":        strings.Replace(good, `"text":""`, `"text":"b"`, 1),
		"an open block":            start + open + says + ends + stop,
		"two message_delta":        start + ends + ends + stop,
		"no message_delta":         start + stop,
		"no stop_reason":           strings.Replace(good, `"end_turn"`, "null", 1),
		"no message_stop":          start + open + says + shut + ends,
		"something behind the end": good + "event: ping\ndata: {\"type\":\"ping\"}\n\n",
		"a count below zero":       strings.Replace(good, `"output_tokens":1`, `"output_tokens":-1`, 1),
		"a count that is missing":  strings.Replace(good, `,"output_tokens":1`, "", 1),
		"an event of another name": strings.Replace(good, "event: message_stop", "event: message_end", 1),
		"an event without a name":  strings.Replace(good, "event: message_stop\n", "", 1),
		"half an event":            strings.TrimSuffix(good, "\n"),
		"an error":                 start + "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n",
	} {
		_, err := translatetest.Message([]byte(broken))
		assert.Error(t, err, name)
	}
}

// chunk is the data of a stream of choices.
func chunk(members string) string {
	return `data: {"id":"i","object":"chat.completion.chunk","created":7,"model":"m",` + members + "}\n\n"
}

func choice(delta, finish string) string {
	return chunk(`"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}],"usage":null`)
}

const done = "data: [DONE]\n\n"

var (
	role  = choice(`{"role":"assistant","content":""}`, "null")
	word  = choice(`{"content":"a"}`, "null")
	calls = choice(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}`, "null")
	over  = choice(`{}`, `"stop"`)
	usage = chunk(`"choices":[],"usage":{"prompt_tokens":1}`)
)

func TestChatRefusesWhatClientsRefuse(t *testing.T) {
	good := role + word + calls + over + usage + done
	_, err := translatetest.Chat([]byte(good), true)
	assert.NoError(t, err)
	for name, broken := range map[string]string{
		"another id":              strings.Replace(good, `"id":"i"`, `"id":"j"`, 1),
		"no role":                 word + over + usage + done,
		"the role twice":          role + role + over + usage + done,
		"a gap in the calls":      strings.Replace(good, `[{"index":0,"id"`, `[{"index":1,"id"`, 1),
		"a name twice":            role + calls + calls + over + usage + done,
		"a call without an id":    strings.Replace(good, `"id":"c"`, `"id":""`, 1),
		"two ends of a choice":    role + over + over + usage + done,
		"text behind the end":     role + over + word + usage + done,
		"text beside the end":     role + choice(`{"content":"a"}`, `"stop"`) + usage + done,
		"no end of a choice":      role + usage + done,
		"usage twice":             role + over + usage + usage + done,
		"no usage":                role + over + done,
		"usage beside choices":    strings.Replace(good, `"usage":null`, `"usage":{}`, 1),
		"a count below zero":      strings.Replace(good, `"prompt_tokens":1`, `"prompt_tokens":-1`, 1),
		"no DONE":                 role + over + usage,
		"DONE twice":              good + done,
		"something behind DONE":   good + word,
		"an event with a name":    strings.Replace(good, "data: [DONE]", "event: done\ndata: [DONE]", 1),
		"a member error":          strings.Replace(good, `"usage":null`, `"usage":null,"error":null`, 1),
		"an empty text":           strings.Replace(good, `{"content":"a"}`, `{"content":""}`, 1),
		"a finish that is no end": strings.Replace(good, `"stop"`, "null", 1),
	} {
		_, err := translatetest.Chat([]byte(broken), true)
		assert.Error(t, err, name)
	}
	_, err = translatetest.Chat([]byte(good), false)
	assert.Error(t, err, "usage that nobody asked for")
}

func TestCompletionRefusesWhatClientsRefuse(t *testing.T) {
	text := func(text, finish string) string {
		return chunk(`"choices":[{"text":"` + text + `","index":0,"logprobs":null,"finish_reason":` + finish + `}],"usage":null`)
	}
	good := text("a", "null") + text("", `"stop"`) + usage + done
	_, err := translatetest.Completion([]byte(good), true)
	assert.NoError(t, err)
	for name, broken := range map[string]string{
		"another created":     strings.Replace(good, `"created":7`, `"created":8`, 1),
		"text behind the end": text("", `"stop"`) + text("a", "null") + usage + done,
		"no end of a choice":  text("a", "null") + usage + done,
		"two usages":          text("", `"stop"`) + usage + usage + done,
		"no DONE":             text("", `"stop"`) + usage,
		"two DONEs":           good + done,
		"a choice without":    strings.Replace(good, `"index":0,`, "", 1),
	} {
		_, err := translatetest.Completion([]byte(broken), true)
		assert.Error(t, err, name)
	}
}
