package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The answers of the provider: their text, and the number of events that a stream divides
// it into.
const (
	answerEvents = 100
	answerPiece  = "about eight tokens of text in a piece "
)

var answerText = strings.Repeat(answerPiece, 24) // of a JSON answer

// serveProvider is the process of the provider: it answers all requests of a format in the
// same way, from bytes that are made beforehand.
func serveProvider(address string) error {
	mux := http.NewServeMux()
	for f, path := range paths {
		whole, events := jsonAnswers[f], strings.SplitAfter(streams[f](), "\n\n")
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			switch {
			case err != nil:
				http.Error(w, err.Error(), http.StatusBadRequest)
			case bytes.Contains(body, []byte(`"stream":true`)):
				w.Header().Set("Content-Type", "text/event-stream")
				writeEach(w, events)
			default:
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, whole)
			}
		})
	}
	return http.ListenAndServe(address, mux)
}

// writeEach writes and flushes one event after the other, as models do. If the client has
// left, it sees a stream that is not whole.
func writeEach(w http.ResponseWriter, events []string) {
	flusher := http.NewResponseController(w)
	for _, e := range events {
		if _, err := io.WriteString(w, e); err != nil {
			return
		}
		_ = flusher.Flush() // fails if the next write does
	}
}

var jsonAnswers = map[format]string{
	chat: `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"bench","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"` + answerText + `"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":250,"completion_tokens":200,"total_tokens":450}}`,
	messages: `{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[{"type":"text","text":"` + answerText + `"}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":250,"output_tokens":200}}`,
	responses: `{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"bench","output":[` +
		`{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + answerText + `","annotations":[]}]}],` +
		`"usage":{"input_tokens":250,"output_tokens":200,"total_tokens":450}}`,
}

// streams make the streams of the formats.
var streams = map[format]func() string{
	chat: func() string {
		chunk := func(delta, finish string) string {
			return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\","+
				"\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
		}
		return chunk(`{"role":"assistant","content":""}`, "null") + strings.Repeat(chunk(`{"content":"`+answerPiece+`"}`, "null"), answerEvents) +
			chunk(`{}`, `"stop"`) + "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\",\"choices\":[]," +
			"\"usage\":{\"prompt_tokens\":250,\"completion_tokens\":800,\"total_tokens\":1050}}\n\ndata: [DONE]\n\n"
	},
	messages: func() string {
		return event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":250,"output_tokens":1}}`) +
			event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
			strings.Repeat(event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+answerPiece+`"}`), answerEvents) +
			event("content_block_stop", `"index":0`) +
			event("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":800}`) +
			event("message_stop", "")
	},
	responses: func() string {
		const part = `"item_id":"msg_1","output_index":0,"content_index":0`
		full := strings.Repeat(answerPiece, answerEvents)
		item := `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + full + `","annotations":[]}]}`
		response := func(status, output, usage string) string {
			return `"response":{"id":"resp_1","object":"response","created_at":1700000000,"status":"` + status + `","model":"bench","output":[` + output + `],"usage":` + usage + `}`
		}
		n := 0
		next := func(name, members string) string {
			n++
			return event(name, fmt.Sprintf(`"sequence_number":%d,%s`, n-1, members))
		}
		var s strings.Builder
		s.WriteString(next("response.created", response("in_progress", "", "null")))
		s.WriteString(next("response.output_item.added", `"output_index":0,"item":{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}`))
		s.WriteString(next("response.content_part.added", part+`,"part":{"type":"output_text","text":"","annotations":[]}`))
		for range answerEvents {
			s.WriteString(next("response.output_text.delta", part+`,"delta":"`+answerPiece+`"`))
		}
		s.WriteString(next("response.output_text.done", part+`,"text":"`+full+`"`))
		s.WriteString(next("response.content_part.done", part+`,"part":{"type":"output_text","text":"`+full+`","annotations":[]}`))
		s.WriteString(next("response.output_item.done", `"output_index":0,"item":`+item))
		s.WriteString(next("response.completed", response("completed", item, `{"input_tokens":250,"output_tokens":800,"total_tokens":1050}`)))
		return s.String()
	},
}

// event returns an event with a name, whose data has the name as its type.
func event(name, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + members + "}\n\n"
}
