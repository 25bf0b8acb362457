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
	accounts map[string]map[string]response // by API key and id: responses and conversations
	items    map[string][]response          // of conversations, by id
	last     int
	failing  int      // the status of all answers, 0 for answers
	asked    []string // the method, path and query of all requests, and the body of those with one
}

type response map[string]any

// startVendor starts a vendor.
func startVendor(t *testing.T) *vendor {
	v := &vendor{accounts: make(map[string]map[string]response), items: make(map[string][]response)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", v.create)
	mux.HandleFunc("POST /v1/responses/input_tokens", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, response{"object": "response.input_tokens", "input_tokens": 3})
	})
	mux.HandleFunc("GET /v1/responses/{id}", v.withStored(func(w http.ResponseWriter, req *http.Request, r response) {
		if req.URL.Query().Get("stream") == "true" {
			after, err := strconv.Atoi(req.URL.Query().Get("starting_after"))
			if err != nil {
				after = -1
			}
			stream(w, r, after)
			return
		}
		answer(w, r)
	}))
	v.serveConversations(mux)
	v.serveCompletions(mux)
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
			noun := "Response"
			if strings.HasPrefix(r.URL.Path, "/v1/conversations") {
				noun = "Conversation"
			} else if strings.HasPrefix(r.URL.Path, "/v1/chat") {
				noun = "Chat completion"
			}
			refuse(w, http.StatusNotFound, noun+" with id '"+r.PathValue("id")+"' not found.", nil, nil)
			return
		}
		serve(w, r, stored)
	}
}

// account returns the objects of the account of a request.
func (v *vendor) account(r *http.Request) map[string]response {
	if v.accounts[credential(r)] == nil {
		v.accounts[credential(r)] = make(map[string]response)
	}
	return v.accounts[credential(r)]
}

// serveConversations serves conversations, and their items.
func (v *vendor) serveConversations(mux *http.ServeMux) {
	const path = "/v1/conversations/{id}"
	type body struct {
		Items    []response
		Metadata any
	}
	read := func(r *http.Request) (b body) {
		_ = json.NewDecoder(r.Body).Decode(&b)
		return b
	}
	list := func(w http.ResponseWriter, items []response) {
		answer(w, response{"object": "list", "data": append([]response{}, items...), "has_more": false})
	}
	add := func(id string, items []response) []response {
		for _, item := range items {
			v.last++
			item["id"] = "msg_" + strconv.Itoa(v.last)
			if item["type"] == nil {
				item["type"] = "message"
			}
			if text, ok := item["content"].(string); ok {
				item["content"] = []any{map[string]any{"type": "input_text", "text": text}}
			}
			v.items[id] = append(v.items[id], item)
		}
		return items
	}
	mux.HandleFunc("POST /v1/conversations", func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.last++
		id, b := fmt.Sprintf("conv_%048x", v.last), read(r)
		add(id, b.Items)
		v.account(r)[id] = response{"id": id, "object": "conversation", "created_at": 1, "metadata": b.Metadata}
		answer(w, v.account(r)[id])
	})
	mux.HandleFunc("GET "+path, v.withStored(func(w http.ResponseWriter, _ *http.Request, c response) { answer(w, c) }))
	mux.HandleFunc("POST "+path, v.withStored(func(w http.ResponseWriter, r *http.Request, c response) {
		c["metadata"] = read(r).Metadata
		answer(w, c)
	}))
	mux.HandleFunc("DELETE "+path, v.withStored(func(w http.ResponseWriter, r *http.Request, c response) {
		delete(v.account(r), c["id"].(string))
		answer(w, response{"id": c["id"], "object": "conversation.deleted", "deleted": true})
	}))
	mux.HandleFunc("POST "+path+"/items", v.withStored(func(w http.ResponseWriter, r *http.Request, c response) {
		list(w, add(c["id"].(string), read(r).Items))
	}))
	mux.HandleFunc("GET "+path+"/items", v.withStored(func(w http.ResponseWriter, _ *http.Request, c response) { list(w, v.items[c["id"].(string)]) }))
	for _, method := range []string{"GET ", "DELETE "} {
		mux.HandleFunc(method+path+"/items/{item_id}", v.withStored(func(w http.ResponseWriter, r *http.Request, c response) {
			id := c["id"].(string)
			i := slices.IndexFunc(v.items[id], func(item response) bool { return item["id"] == r.PathValue("item_id") })
			switch {
			case i < 0:
				refuse(w, http.StatusNotFound, "Item with id '"+r.PathValue("item_id")+"' not found.", nil, nil)
			case method == "GET ":
				answer(w, v.items[id][i])
			default:
				v.items[id] = slices.Delete(v.items[id], i, i+1)
				answer(w, c)
			}
		}))
	}
}

// serveCompletions serves chat completions, of which those are stored that ask for it.
func (v *vendor) serveCompletions(mux *http.ServeMux) {
	const path = "/v1/chat/completions"
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		var request struct{ Store, Stream bool }
		_ = json.NewDecoder(r.Body).Decode(&request)
		v.last++
		c := response{
			"id": fmt.Sprintf("chatcmpl-%048x", v.last), "object": "chat.completion", "created": 1, "model": "gpt",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "Hello"}}},
			"usage":   map[string]any{"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
		}
		if request.Store {
			v.account(r)[c["id"].(string)] = c
		}
		if !request.Stream {
			answer(w, c)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, rest := range []string{
			`"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}],"usage":null`,
			`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}`,
		} {
			fmt.Fprintf(w, `data: {"id":"%s","object":"chat.completion.chunk","created":1,"model":"gpt",%s}`+"\n\n", c["id"], rest)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
	mux.HandleFunc("GET "+path+"/{id}", v.withStored(func(w http.ResponseWriter, _ *http.Request, c response) { answer(w, c) }))
	mux.HandleFunc("POST "+path+"/{id}", v.withStored(func(w http.ResponseWriter, r *http.Request, c response) {
		var request struct{ Metadata any }
		_ = json.NewDecoder(r.Body).Decode(&request)
		answer(w, with(c, "metadata", request.Metadata))
	}))
	mux.HandleFunc("DELETE "+path+"/{id}", v.withStored(func(w http.ResponseWriter, r *http.Request, c response) {
		delete(v.account(r), c["id"].(string))
		answer(w, response{"id": c["id"], "object": "chat.completion.deleted", "deleted": true})
	}))
	mux.HandleFunc("GET "+path+"/{id}/messages", v.withStored(func(w http.ResponseWriter, _ *http.Request, c response) {
		id := c["id"].(string) + "-0"
		answer(w, response{"object": "list", "data": []any{map[string]any{"id": id, "role": "user", "content": "hi"}}, "first_id": id, "last_id": id, "has_more": false})
	}))
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
	account := v.account(r)
	if _, ok := account[request.Previous]; request.Previous != "" && !ok {
		refuse(w, http.StatusBadRequest, "Previous response with id '"+request.Previous+"' not found.", "previous_response_id", "previous_response_not_found")
		return
	}
	if named, ok := request.Conversation.(string); ok && account[named] == nil {
		refuse(w, http.StatusNotFound, "Conversation with id '"+named+"' not found.", nil, nil)
		return
	}
	v.last++
	id := fmt.Sprintf("resp_%048x", v.last)
	stored := response{
		"id": id, "object": "response", "created_at": 1, "status": "completed", "model": "gpt", "previous_response_id": nil,
		"output": []any{map[string]any{"id": "msg_" + strconv.Itoa(v.last), "type": "message", "role": "assistant", "status": "completed", "content": []any{map[string]any{"type": "output_text", "text": "Hello", "annotations": []any{}}}}},
		"usage":  map[string]any{"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
	}
	if request.Conversation != nil {
		stored["conversation"] = map[string]any{"id": request.Conversation}
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
	stream(w, stored, -1)
}

// stream answers with the events of a response behind the one with a number.
func stream(w http.ResponseWriter, stored response, after int) {
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
		if i <= after {
			continue
		}
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
