package endpoints_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// vendor is a service of the responses format that stores responses, as the vendor's does: each
// API key is of an account of its own, whose objects no other account has.
type vendor struct {
	URL string

	mu       sync.Mutex
	accounts map[string]map[string]response // by API key and id
	last     int
	failing  int      // the status of all answers, 0 for answers
	asked    []string // the method, path and query of all requests, and the body of those with one
}

type response map[string]any

// startVendor starts a vendor.
func startVendor(t *testing.T) *vendor {
	v := &vendor{accounts: make(map[string]map[string]response)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", v.create)
	mux.HandleFunc("GET /v1/responses/{id}", v.withStored(func(w http.ResponseWriter, _ *http.Request, r response) { answer(w, r) }))
	mux.HandleFunc("DELETE /v1/responses/{id}", v.withStored(func(w http.ResponseWriter, req *http.Request, r response) {
		delete(v.accounts[credential(req)], r["id"].(string))
		answer(w, response{"id": r["id"], "object": "response.deleted", "deleted": true})
	}))
	mux.HandleFunc("POST /v1/responses/{id}/cancel", v.withStored(func(w http.ResponseWriter, _ *http.Request, r response) {
		r["status"] = "cancelled"
		answer(w, r)
	}))
	mux.HandleFunc("GET /v1/responses/{id}/input_items", v.withStored(func(w http.ResponseWriter, req *http.Request, r response) {
		answer(w, response{"object": "list", "data": []any{map[string]any{"id": "msg_in", "type": "message"}}, "first_id": "msg_in", "last_id": "msg_in", "has_more": false})
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		v.mu.Lock()
		v.asked = append(v.asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		failing := v.failing
		v.mu.Unlock()
		if failing != 0 {
			refuse(w, failing, "try later", nil, nil)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	v.URL = server.URL
	return v
}

// fail makes the vendor answer all requests with a status, 0 for answers.
func (v *vendor) fail(status int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failing = status
}

// requests returns all requests so far, of which each is "GET /v1/responses/resp_1 ".
func (v *vendor) requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asked)
}

// lastRequest returns the last request.
func (v *vendor) lastRequest(t *testing.T) string {
	t.Helper()
	all := v.requests()
	if !assert.NotEmpty(t, all) {
		return ""
	}
	return all[len(all)-1]
}

func credential(r *http.Request) string { return r.Header.Get("Authorization") }

func answer(w http.ResponseWriter, r response) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r)
}

func refuse(w http.ResponseWriter, status int, message string, param, code any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": param, "code": code}})
}

// withStored calls serve with the response of the account with the id in the path.
func (v *vendor) withStored(serve func(http.ResponseWriter, *http.Request, response)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		stored, ok := v.accounts[credential(r)][r.PathValue("id")]
		if !ok {
			refuse(w, http.StatusNotFound, "Response with id '"+r.PathValue("id")+"' not found.", nil, nil)
			return
		}
		serve(w, r, stored)
	}
}

// create answers a request for a response, and stores it unless the request asks not to.
func (v *vendor) create(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var request struct {
		Previous     string `json:"previous_response_id"`
		Store        *bool
		Stream       bool
		Conversation any
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &request)
	account := v.accounts[credential(r)]
	if account == nil {
		account = make(map[string]response)
		v.accounts[credential(r)] = account
	}
	if _, ok := account[request.Previous]; request.Previous != "" && !ok {
		refuse(w, http.StatusBadRequest, "Previous response with id '"+request.Previous+"' not found.", "previous_response_id", "previous_response_not_found")
		return
	}
	v.last++
	id := fmt.Sprintf("resp_%048x", v.last)
	stored := response{
		"id": id, "object": "response", "created_at": 1, "status": "completed", "model": "gpt", "previous_response_id": nil,
		"output": []any{map[string]any{"id": "msg_" + strconv.Itoa(v.last), "type": "message", "role": "assistant", "status": "completed", "content": []any{map[string]any{"type": "output_text", "text": "Hello", "annotations": []any{}}}}},
		"usage":  map[string]any{"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
	}
	if request.Previous != "" {
		stored["previous_response_id"] = request.Previous
	}
	if request.Store == nil || *request.Store {
		account[id] = stored
	}
	if !request.Stream {
		answer(w, stored)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range []struct {
		kind    string
		members map[string]any
	}{
		{"response.created", map[string]any{"response": with(stored, "status", "in_progress")}},
		{"response.in_progress", map[string]any{"response": with(stored, "status", "in_progress")}},
		{"response.output_item.added", map[string]any{"output_index": 0, "item": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}}},
		{"response.output_text.delta", map[string]any{"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "Hel"}},
		{"response.output_text.delta", map[string]any{"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "lo"}},
		{"response.completed", map[string]any{"response": stored}},
	} {
		e.members["type"], e.members["sequence_number"] = e.kind, i
		data, _ := json.Marshal(e.members)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.kind, data)
	}
}

// with returns a copy of a response with another member.
func with(r response, name string, value any) response {
	changed := maps.Clone(r)
	changed[name] = value
	return changed
}
