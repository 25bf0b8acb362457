package usage_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// batching is a vendor with batches of the messages format, as Anthropic has them: all API keys see all
// batches, and the address of the results is absolute.
type batching struct {
	*httptest.Server

	mu      sync.Mutex
	batches map[string]*vendorBatch
	last    int
	asked   []string // the method and path of each request, and the body of the creations
}

// vendorBatch is a batch at the vendor.
type vendorBatch struct {
	status  string
	results string // JSONL
	gets    int    // of the results
	early   bool   // it has ended, and has no address of its results yet
}

func startBatching(t *testing.T) *batching {
	b := &batching{batches: make(map[string]*vendorBatch)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages/batches", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked[len(b.asked)-1] += " " + string(body)
		b.last++
		id := fmt.Sprintf("msgbatch_%024d", b.last)
		b.batches[id] = &vendorBatch{status: "in_progress"}
		b.write(w, id)
	})
	mux.HandleFunc("GET /v1/messages/batches/{id}", b.withBatch(func(w http.ResponseWriter, id string) { b.write(w, id) }))
	mux.HandleFunc("POST /v1/messages/batches/{id}/cancel", b.withBatch(func(w http.ResponseWriter, id string) {
		b.batches[id].status = "canceling"
		b.write(w, id)
	}))
	mux.HandleFunc("DELETE /v1/messages/batches/{id}", b.withBatch(func(w http.ResponseWriter, id string) {
		delete(b.batches, id)
		answerJSON(w, map[string]any{"id": id, "type": "message_batch_deleted"})
	}))
	mux.HandleFunc("GET /v1/messages/batches/{id}/results", b.withBatch(func(w http.ResponseWriter, id string) {
		b.batches[id].gets++
		w.Header().Set("Content-Type", "application/x-jsonl")
		if b.batches[id].results == "\n" { // they break off
			_, _ = io.WriteString(w, succeeded("r0", 1, 8)[:20])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, b.batches[id].results)
	}))
	mux.HandleFunc("GET /end", func(http.ResponseWriter, *http.Request) { // of a suite in another language
		b.end(succeeded("r0", 1, 2), unsuccessful("r1", "expired"))
	})
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
			"content": []any{map[string]any{"type": "text", "text": "hi"}}, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
		})
	})
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.asked = append(b.asked, r.Method+" "+r.URL.RequestURI())
		b.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(b.Close)
	return b
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// withBatch calls serve for a batch that exists.
func (b *batching) withBatch(serve func(w http.ResponseWriter, id string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		id := r.PathValue("id")
		if b.batches[id] == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"not_found_error","message":"%s not found"}}`, id)
			return
		}
		serve(w, id)
	}
}

// write writes a batch. The caller holds mu.
func (b *batching) write(w http.ResponseWriter, id string) {
	batch := b.batches[id]
	var results any
	succeeded := 0
	if batch.early {
		succeeded = 1
	} else if batch.status == "ended" {
		results = b.URL + "/v1/messages/batches/" + id + "/results"
	}
	answerJSON(w, map[string]any{
		"id": id, "type": "message_batch", "processing_status": batch.status, "results_url": results,
		"request_counts": map[string]any{"processing": 0, "succeeded": succeeded, "errored": 0, "canceled": 0, "expired": 0},
		"created_at":     "2026-11-29T12:00:00Z", "expires_at": "2026-11-30T12:00:00Z", "ended_at": nil, "archived_at": nil, "cancel_initiated_at": nil,
	})
}

// end ends the last batch with lines of results.
func (b *batching) end(lines ...string) (results string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	results = strings.Join(lines, "\n") + "\n"
	batch := b.batches[fmt.Sprintf("msgbatch_%024d", b.last)]
	batch.status, batch.results, batch.early = "ended", results, false
	return results
}

// endEarly ends the last batch before its results are there, and before their address is.
func (b *batching) endEarly(early bool) {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	batch := b.batches[fmt.Sprintf("msgbatch_%024d", b.last)]
	batch.results, batch.early = "", early
}

// requests returns the requests so far.
func (b *batching) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// downloads returns how often the results of the last batch were downloaded.
func (b *batching) downloads() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batches[fmt.Sprintf("msgbatch_%024d", b.last)].gets
}

// succeeded is a line of results with an answer of so many tokens.
func succeeded(id string, input, output int) string {
	return fmt.Sprintf(`{"custom_id":"%s","result":{"type":"succeeded","message":{"id":"msg_%s","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":%d,"service_tier":"batch"}}}}`, id, id, input, output)
}

// unsuccessful is a line of results without an answer.
func unsuccessful(id, kind string) string {
	if kind == "errored" {
		return `{"custom_id":"` + id + `","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"no"}}}}`
	}
	return `{"custom_id":"` + id + `","result":{"type":"` + kind + `"}}`
}
