package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answerPiece is the text of an event: the time at which a paced event was written, in
// nanoseconds, and about eight tokens.
const (
	answerPiece = stampMark + noStamp + stampEnd
	stampMark   = "@"
	noStamp     = "0000000000000000000" // of events without a pace
	stampEnd    = " eight tokens of text"
)

var answerText = strings.Repeat(answerPiece, 24) // of a JSON answer

// serveProvider is the process of the provider, with an address for HTTP, and one for HTTPS.
// It answers all requests of a format in the same way, from bytes that are made beforehand.
func serveProvider(address, secure string, c certificate) error {
	mux := http.NewServeMux()
	for f, path := range paths {
		mux.Handle("POST "+path, &answers{format: f, streams: map[string][]string{}})
	}
	quiet := log.New(io.Discard, "", 0) // connections that are cut are what clients report
	failed := make(chan error)
	go func() {
		failed <- (&http.Server{Addr: address, Handler: mux, ErrorLog: quiet}).ListenAndServe()
	}()
	go func() {
		failed <- (&http.Server{Addr: secure, Handler: mux, ErrorLog: quiet}).ListenAndServeTLS(c.file, c.key)
	}()
	return <-failed
}

// answers answers the requests of one format.
type answers struct {
	format format

	mu      sync.Mutex
	streams map[string][]string // the events, by the number of texts
}

// asked is the form of the answer in the name of a model.
var asked = regexp.MustCompile(`"model":"bench-\w+/(\d+)/(\w+)(/cut)?"`)

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	form := asked.FindSubmatch(body)
	if form == nil {
		http.Error(w, "unknown model", http.StatusNotFound)
		return
	}
	if string(form[1]) == "0" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, jsonAnswers[a.format])
		return
	}
	pace, err := time.ParseDuration(string(form[2]))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := a.events(string(form[1]))
	if len(form[3]) > 0 {
		writeEach(r.Context(), w, events[:len(events)/2], pace)
		panic(http.ErrAbortHandler)
	}
	writeEach(r.Context(), w, events, pace)
}

// events returns the events of a stream with a number of texts.
func (a *answers) events(number string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	events := a.streams[number]
	if events == nil {
		n, _ := strconv.Atoi(number) // digits
		events = strings.SplitAfter(streams[a.format](n), "\n\n")
		a.streams[number] = events
	}
	return events
}

// writeEach writes and flushes one event after the other, as models do. If the client has
// left, it sees a stream that is not whole. With a pace, texts wait for their time, and have
// it as a stamp.
func writeEach(ctx context.Context, w http.ResponseWriter, events []string, pace time.Duration) {
	flusher := http.NewResponseController(w)
	var tick <-chan time.Time
	if pace > 0 {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		tick = ticker.C
	}
	for _, e := range events {
		if tick != nil && strings.Contains(e, answerPiece) {
			select {
			case <-tick:
				e = strings.Replace(e, noStamp, strconv.FormatInt(time.Now().UnixNano(), 10), 1)
			case <-ctx.Done():
				return
			}
		}
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

// streams make the streams of the formats, with a number of texts.
var streams = map[format]func(texts int) string{
	chat: func(texts int) string {
		chunk := func(delta, finish string) string {
			return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\","+
				"\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
		}
		return chunk(`{"role":"assistant","content":""}`, "null") + strings.Repeat(chunk(`{"content":"`+answerPiece+`"}`, "null"), texts) +
			chunk(`{}`, `"stop"`) + "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\",\"choices\":[]," +
			"\"usage\":{\"prompt_tokens\":250,\"completion_tokens\":800,\"total_tokens\":1050}}\n\ndata: [DONE]\n\n"
	},
	messages: func(texts int) string {
		return event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":250,"output_tokens":1}}`) +
			event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
			strings.Repeat(event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+answerPiece+`"}`), texts) +
			event("content_block_stop", `"index":0`) +
			event("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":800}`) +
			event("message_stop", "")
	},
	responses: func(texts int) string {
		const part = `"item_id":"msg_1","output_index":0,"content_index":0`
		full := strings.Repeat(answerPiece, texts)
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
		for range texts {
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
