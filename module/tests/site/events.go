package site

import "strings"

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
}

// ErrorEvents are what providers send when they fail in mid-stream, by path.
var ErrorEvents = map[string]string{
	MessagesPath:    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"vendor\":1}\n\n",
	ChatPath:        "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"vendor\":1}}\n\n",
	CompletionsPath: "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"vendor\":1}}\n\n",
}

// KeepAlives are what the gateway sends while it has no event to send, by path.
var KeepAlives = map[string]string{
	MessagesPath:    "event: ping\ndata: {\"type\": \"ping\"}\n",
	ChatPath:        ": keep-alive\n",
	CompletionsPath: ": keep-alive\n",
}

// IsKeepAlive reports whether an event of Stream.Next is a keep-alive.
func IsKeepAlive(path, event string) bool { return event == KeepAlives[path] }

// WithoutKeepAlives removes the keep-alives from a stream.
func WithoutKeepAlives(path, body string) string {
	return strings.ReplaceAll(body, KeepAlives[path]+"\n", "")
}
