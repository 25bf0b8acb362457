package site

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Streams are whole answers by path, event by event: "Hi there".
var Streams = map[string][]string{
	MessagesPath: {
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
		"event: ping\ndata: {\"type\": \"ping\"}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" there\"}}\n\n",
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	ChatPath: {
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" there\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
		"data: [DONE]\n\n",
	},
	CompletionsPath: {
		"data: {\"id\":\"t1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"text\":\"Hi\",\"logprobs\":null,\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"t1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"text\":\" there\",\"logprobs\":null,\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"t1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n",
		"data: [DONE]\n\n",
	},
	ResponsesPath: gatewaytest.FrameResponseEvents(
		"response.created "+response("in_progress", "", "null"),
		"response.in_progress "+response("in_progress", "", "null"),
		`response.output_item.added ,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}`,
		`response.content_part.added ,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`,
		`response.output_text.delta ,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[]`,
		`response.output_text.delta ,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" there","logprobs":[]`,
		`response.output_text.done ,"item_id":"msg_1","output_index":0,"content_index":0,"text":"Hi there","logprobs":[]`,
		`response.content_part.done ,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hi there","annotations":[]}`,
		`response.output_item.done ,"output_index":0,"item":`+hiThere,
		"response.completed "+response("completed", hiThere, `{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}`),
	),
	GeminiPath: {
		"data: {\"candidates\":[],\"modelVersion\":\"x\",\"responseId\":\"g1\"}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}],\"role\":\"model\"},\"index\":0}],\"modelVersion\":\"x\",\"responseId\":\"g1\"}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\" there\"}],\"role\":\"model\"},\"index\":0}],\"modelVersion\":\"x\",\"responseId\":\"g1\"}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"index\":0}],\"modelVersion\":\"x\",\"responseId\":\"g1\"}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":4,\"totalTokenCount\":13},\"modelVersion\":\"x\",\"responseId\":\"g1\"}\n\n",
	},
}

// hiThere is the item of a response that is "Hi there".
const hiThere = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi there","annotations":[]}]}`

// response returns the member of an event that is about the whole response.
func response(status, output, usage string) string {
	return `,"response":{"id":"resp_1","object":"response","created_at":1,"status":"` + status +
		`","error":null,"incomplete_details":null,"model":"x","output":[` + output + `],"usage":` + usage + `}`
}

// ErrorEvents are what providers send when they fail in mid-stream, by path.
var ErrorEvents = map[string]string{
	MessagesPath:    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"vendor\":1}\n\n",
	ChatPath:        "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"vendor\":1}}\n\n",
	CompletionsPath: "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"vendor\":1}}\n\n",
	ResponsesPath:   "event: error\ndata: {\"type\":\"error\",\"sequence_number\":5,\"code\":\"server_error\",\"message\":\"The server had an error\",\"param\":null,\"vendor\":1}\n\n",
	GeminiPath:      "data: {\"error\":{\"code\":500,\"message\":\"The server had an error\",\"status\":\"INTERNAL\",\"vendor\":1}}\n\n",
}

// WaitingAt answers with the stream of the call's endpoint, whose last three events wait for
// the gate: the turn is not over before.
func WaitingAt(gate *gatewaytest.Gate) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		events := Streams[Called(c.Request.URL.Path)]
		gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-3]...),
			gatewaytest.Stall(gate, gatewaytest.More(events[len(events)-3:]...)),
		)(c)
	}
}

// KeepAlives are what the gateway sends while it has no event to send, by path.
var KeepAlives = map[string]string{
	MessagesPath:    "event: ping\ndata: {\"type\": \"ping\"}\n",
	ChatPath:        ": keep-alive\n",
	CompletionsPath: ": keep-alive\n",
	GeminiPath:      "data: {}\n",
	ResponsesPath:   ": keep-alive\n", // of the byte lane; see IsBridge for translated streams
}

// IsKeepAlive reports whether an event of Stream.Next is a keep-alive.
func IsKeepAlive(path, event string) bool {
	return event == KeepAlives[path] || path == ResponsesPath && IsBridge(event)
}

// IsBridge reports whether an event is what a translated stream of responses has instead of
// comments: its beginning, or an event that adds nothing.
func IsBridge(event string) bool {
	return strings.Contains(event, `"delta":""`) || strings.HasPrefix(event, "event: response.created\n") ||
		strings.HasPrefix(event, "event: response.in_progress\n")
}

// WithoutKeepAlives removes the keep-alives from a stream.
func WithoutKeepAlives(path, body string) string {
	return strings.ReplaceAll(body, KeepAlives[path]+"\n", "")
}
