package translatetest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// responseEvent is an event of a responses stream.
func responseEvent(name, members string) string {
	return "event: " + name + "\n" + `data: {"type":"` + name + `",` + members + "}\n\n"
}

// responseObject is a response in a state, with these members.
func responseObject(status, members string) string {
	return `"response":{"id":"r","object":"response","created_at":7,"model":"m","status":"` + status + `","instructions":null,"metadata":{},"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,` + members + `}`
}

func TestResponseRefusesWhatClientsRefuse(t *testing.T) {
	const (
		part = `{"type":"output_text","text":"ab","annotations":[],"logprobs":[]}`
		item = `{"id":"i","type":"message","status":"completed","role":"assistant","content":[` + part + `]}`
		call = `{"id":"j","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"}`
		at   = `"item_id":"i","output_index":0,"content_index":0`
	)
	usage := `"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}`
	events := []string{
		responseEvent("response.created", `"sequence_number":0,`+responseObject("in_progress", `"error":null,"incomplete_details":null,"output":[],"usage":null`)),
		responseEvent("response.output_item.added", `"sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","status":"in_progress","role":"assistant","content":[]}`),
		responseEvent("response.content_part.added", `"sequence_number":2,`+at+`,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`),
		responseEvent("response.output_text.delta", `"sequence_number":3,`+at+`,"delta":"a","logprobs":[]`),
		responseEvent("response.output_text.delta", `"sequence_number":4,`+at+`,"delta":"b","logprobs":[]`),
		responseEvent("response.output_text.done", `"sequence_number":5,`+at+`,"text":"ab","logprobs":[]`),
		responseEvent("response.content_part.done", `"sequence_number":6,`+at+`,"part":`+part),
		responseEvent("response.output_item.done", `"sequence_number":7,"output_index":0,"item":`+item),
		responseEvent("response.output_item.added", `"sequence_number":8,"output_index":1,"item":{"id":"j","type":"function_call","status":"in_progress","call_id":"c","name":"f","arguments":""}`),
		responseEvent("response.function_call_arguments.delta", `"sequence_number":9,"item_id":"j","output_index":1,"delta":"{}"`),
		responseEvent("response.function_call_arguments.done", `"sequence_number":10,"item_id":"j","output_index":1,"arguments":"{}"`),
		responseEvent("response.output_item.done", `"sequence_number":11,"output_index":1,"item":`+call),
		responseEvent("response.completed", `"sequence_number":12,`+responseObject("completed", `"error":null,"incomplete_details":null,"output":[`+item+`,`+call+`],`+usage)),
	}
	good := strings.Join(events, "")
	_, err := translatetest.Response([]byte(good))
	require.NoError(t, err)

	without := func(i int) string {
		return strings.Join(append(append([]string{}, events[:i]...), events[i+1:]...), "")
	}
	for name, broken := range map[string]string{
		"an event that is missing":       without(3),
		"another first event":            strings.Replace(good, "response.created", "response.in_progress", 2),
		"two beginnings":                 strings.Replace(good, events[1], events[0]+events[1], 1),
		"no end":                         strings.TrimSuffix(good, events[12]),
		"something behind the end":       good + events[12],
		"another name than the type":     strings.Replace(good, "event: response.output_text.done", "event: response.text.done", 1),
		"an event that nobody knows":     strings.Replace(good, "response.output_text.done", "response.text.done", 2),
		"a member error":                 strings.Replace(good, `"delta":"a"`, `"delta":"a","error":null`, 1),
		"a gap in the items":             strings.Replace(good, `"output_index":1,"item":{"id":"j","type":"function_call","status":"in_progress"`, `"output_index":2,"item":{"id":"j","type":"function_call","status":"in_progress"`, 1),
		"an item that is not empty":      strings.Replace(good, `"role":"assistant","content":[]`, `"role":"assistant","content":[`+part+`]`, 1),
		"a message without content":      strings.Replace(good, `"role":"assistant","content":[]`, `"role":"assistant"`, 1),
		"a part that is not empty":       strings.Replace(good, `"text":"","annotations"`, `"text":"x","annotations"`, 1),
		"a delta of another item":        strings.Replace(good, `"item_id":"i","output_index":0,"content_index":0,"delta":"a"`, `"item_id":"j","output_index":0,"content_index":0,"delta":"a"`, 1),
		"a delta of another kind":        strings.Replace(good, "response.function_call_arguments.delta", "response.custom_tool_call_input.delta", 2),
		"another whole text":             strings.Replace(good, `"text":"ab","logprobs":[]}`+"\n", `"text":"b","logprobs":[]}`+"\n", 1),
		"another whole part":             strings.Replace(good, `"part":`+part, `"part":`+strings.Replace(part, "ab", "b", 1), 1),
		"another whole item":             strings.Replace(good, `"output_index":0,"item":`+item, `"output_index":0,"item":`+strings.Replace(item, "ab", "b", 1), 1),
		"other arguments":                strings.Replace(good, `"arguments":"{}"}`+"\n", `"arguments":"{"}`+"\n", 1),
		"another output":                 strings.Replace(good, `"output":[`+item+`,`+call+`]`, `"output":[`+item+`]`, 1),
		"another id":                     strings.Replace(good, `"sequence_number":12,"response":{"id":"r"`, `"sequence_number":12,"response":{"id":"s"`, 1),
		"another status":                 strings.Replace(good, `"status":"completed","instructions"`, `"status":"incomplete","instructions"`, 1),
		"a reason of a completed answer": strings.Replace(good, `"incomplete_details":null,"output":[{`, `"incomplete_details":{"reason":"x"},"output":[{`, 1),
		"no usage":                       strings.Replace(good, usage, `"usage":null`, 1),
		"no details of usage":            strings.Replace(good, `"input_tokens_details":{"cached_tokens":0},`, "", 1),
		"another total":                  strings.Replace(good, `"total_tokens":3`, `"total_tokens":4`, 1),
		"a member that is missing":       strings.Replace(good, `"top_p":1,"error":null,"incomplete_details":null,"output":[{`, `"error":null,"incomplete_details":null,"output":[{`, 1),
		"usage before the end":           strings.Replace(good, `"output":[],"usage":null`, `"output":[],`+usage, 1),
		"output before there is any":     strings.Replace(good, `"output":[],"usage":null`, `"output":[`+item+`],"usage":null`, 1),
		"half an event":                  strings.TrimSuffix(good, "\n"),
	} {
		_, err := translatetest.Response([]byte(broken))
		assert.Error(t, err, name)
	}
	failed := events[0] + responseEvent("response.failed", `"sequence_number":1,`+responseObject("failed", `"error":{"code":"server_error","message":"m"},"incomplete_details":null,"output":[],"usage":null`))
	_, err = translatetest.Response([]byte(failed))
	require.ErrorIs(t, err, translatetest.ErrFailed)
	_, err = translatetest.Response([]byte(strings.Replace(failed, `"error":{"code":"server_error","message":"m"}`, `"error":null`, 1)))
	assert.NotErrorIs(t, err, translatetest.ErrFailed)
	assert.Error(t, err)
}

func TestGeneratedRefusesWhatClientsRefuse(t *testing.T) {
	const (
		head  = `data: {"candidates":[{"content":{"parts":[`
		names = `"index":0}],"modelVersion":"m","responseId":"r"}` + "\n\n"
		says  = head + `{"text":"a"}],"role":"model"},` + names
		calls = head + `{"functionCall":{"id":"i","name":"f","args":{}}}],"role":"model"},` + names
		ends  = head + `{"text":""}],"role":"model"},"finishReason":"STOP",` + names
	)
	const good = says + "data: {}\n\n" + says + calls + ends
	answer, err := translatetest.Generated([]byte(good))
	require.NoError(t, err)
	content := answer["candidates"].([]any)[0].(translatetest.Object)["content"].(translatetest.Object)
	assert.Len(t, content["parts"], 2)
	for name, broken := range map[string]string{
		"no end":                    says,
		"nothing":                   "",
		"behind the end":            good + says,
		"a comment":                 ": ping\n\n" + good,
		"a name":                    strings.Replace(good, "data: ", "event: x\ndata: ", 1),
		"a mark of the end":         good + "data: [DONE]\n\n",
		"no parts":                  strings.Replace(good, `{"text":"a"}`, "", 1),
		"another role":              strings.Replace(good, `"model"`, `"user"`, 1),
		"another answer":            strings.Replace(good, `"r"`, `"s"`, 1),
		"another candidate":         strings.Replace(good, `"index":0`, `"index":2`, 1),
		"a call without an id":      strings.Replace(good, `"id":"i",`, "", 1),
		"arguments as a text":       strings.Replace(good, `"args":{}`, `"args":"{}"`, 1),
		"a part of another kind":    strings.Replace(good, `"text":"a"`, `"image":"a"`, 1),
		"usage before the end":      strings.Replace(good, `"modelVersion"`, `"usageMetadata":{},"modelVersion"`, 1),
		"a count that is a text":    strings.TrimSuffix(good, "}\n\n") + `,"usageMetadata":{"promptTokenCount":-1}}` + "\n\n",
		"an error in the middle":    says + `data: {"error":{"code":500}}` + "\n\n" + ends,
		"something that is no JSON": says + "data: x\n\n" + ends,
	} {
		_, err := translatetest.Generated([]byte(broken))
		assert.Error(t, err, name)
	}
}
