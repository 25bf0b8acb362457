package endpoints_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
)

// depot is an account of a vendor that stores objects of all kinds, in the formats of OpenAI and of
// Anthropic. It fails the test for every id that it has not given.
type depot struct {
	*httptest.Server
	t *testing.T

	refuses atomic.Bool // requests, with the ids in them

	mu    sync.Mutex
	salt  string          // of the ids
	given map[string]bool // ids
	asked []string        // the method, target and body of each request

}

// depotID matches the ids of the vendors, and sealed ones.
var depotID = regexp.MustCompile(`\b(file-|file_|upload_|vsfb_|vs_|cntr_|cfile_|container_|ftjob-|video_|skill_|batch_|msgbatch_|conv_|resp_|chatcmpl-)[A-Za-z0-9_-]{20,}`)

func startDepot(t *testing.T, salt string) *depot {
	d := &depot{t: t, salt: salt, given: make(map[string]bool)}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// give returns a new id of a kind. The caller holds mu.
func (d *depot) give(kind string) string {
	id := fmt.Sprintf("%s%s%022d", kind, d.salt, len(d.given))
	d.given[id] = true
	return id
}

// ServeHTTP implements http.Handler.
func (d *depot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		d.converse(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	reply := d.take(r, string(body))
	if d.refuses.Load() {
		w.WriteHeader(http.StatusBadRequest)
		reply = `{"type":"error","error":{"type":"invalid_request_error","message":"cannot use ` + strings.Join(depotID.FindAllString(string(body), -1), " ") + `","param":null,"code":null}}`
	} else if strings.HasPrefix(reply, "event:") {
		w.Header().Set("Content-Type", eventStream)
	}
	_, _ = io.WriteString(w, reply)
}

// converse answers the messages of a WebSocket.
func (d *depot) converse(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		create := r.Clone(r.Context())
		create.Method = http.MethodPost
		for event := range strings.SplitSeq(d.take(create, string(text)+`{"stream":true}`), "\n") {
			if data, ok := strings.CutPrefix(event, "data: "); ok {
				_ = conn.Write(r.Context(), websocket.MessageText, []byte(data))
			}
		}
	}
}

// take notes a request, and returns the answer.
func (d *depot) take(r *http.Request, body string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.Method+" "+r.RequestURI+" "+body)
	for _, id := range depotID.FindAllString(r.RequestURI+" "+body, -1) {
		if !d.given[id] {
			d.t.Errorf("the vendor got %s in %s %s", id, r.Method, r.RequestURI)
		}
	}
	return d.reply(r, body)
}

// reply returns the answer to a request.
func (d *depot) reply(r *http.Request, body string) string {
	named := depotID.FindString(r.RequestURI)
	claude := r.Header.Get("Anthropic-Version") != ""
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/content"):
		return "content"
	case strings.HasSuffix(path, "/results"):

		return `{"custom_id":"r","result":{"type":"errored"}}` + "\n" +
			`{"custom_id":"s","result":{"type":"succeeded","message":` + d.message() + "}}"
	case named != "" && r.Method == http.MethodDelete:
		return `{"id":"` + named + `","object":"` + map[bool]string{true: "file.deleted", false: "response.deleted"}[strings.HasPrefix(named, "file")] + `","type":"file_deleted","deleted":true}`
	case named != "" && (strings.HasSuffix(path, "/items") || strings.HasSuffix(path, "/messages") || strings.HasSuffix(path, "/input_items")):
		return `{"object":"list","data":[{"id":"msg_1","type":"message","content":[{"type":"input_file","file_id":"` + d.give("file-") + `"}]}],"has_more":false}`
	case named != "" && strings.HasSuffix(path, "/file_batches"):
		return `{"id":"` + d.give("vsfb_") + `","object":"vector_store.file_batch"}`
	case named != "" && strings.HasPrefix(path, "/v1/containers/") && strings.HasSuffix(path, "/files"):
		return `{"id":"` + d.give("cfile_") + `","object":"container.file"}`
	case named != "" && strings.HasSuffix(path, "/parts"):
		return `{"id":"part_1","object":"upload.part","upload_id":"` + named + `"}`
	case named != "" && r.URL.Query().Get("stream") == "true":
		return d.response(`"stream":true`)
	case named != "":
		kind := depotID.FindStringSubmatch(named)[1]
		return `{"id":"` + named + `","object":"` + objectOf[kind] + `","type":"` + objectOf[kind] + `","processing_status":"in_progress","status":"in_progress","request_counts":{},"container":{"id":"` + d.give("cntr_") + `"},"file_ids":["` + d.give("file-") + `"]}`
	case path == "/v1/files":
		return `{"id":"` + d.give(map[bool]string{true: "file_", false: "file-"}[claude]) + `","object":"file","type":"file"}`
	case path == depotMessages && strings.Contains(body, `"stream":true`):
		return d.messageStream()
	case path == depotMessages:
		return d.message()
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, "/input_tokens"):
		return `{"input_tokens":3,"object":"response.input_tokens"}`
	case path == "/v1/responses" || path == "/v1/responses/compact":
		return d.response(body)
	case path == "/v1/chat/completions":
		return `{"id":"` + d.give("chatcmpl-") + `","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
	}
	for kind, path := range depotPaths {
		if path == r.URL.Path {
			return `{"id":"` + d.give(kind) + `","object":"` + objectOf[kind] + `","type":"` + objectOf[kind] + `","processing_status":"in_progress"}`
		}
	}
	d.t.Errorf("the vendor has no %s %s", r.Method, r.URL.Path)
	return "{}"
}

// depotMessages is the path of messages.
const depotMessages = "/v1/messages"

// depotPaths are the paths at which objects are created that have no model, and objectOf what they are.
var (
	depotPaths = map[string]string{
		"upload_": "/v1/uploads", "batch_": "/v1/batches", "msgbatch_": "/v1/messages/batches", "conv_": "/v1/conversations", "vs_": "/v1/vector_stores", "cntr_": "/v1/containers",
		"ftjob-": "/v1/fine_tuning/jobs", "video_": "/v1/videos", "skill_": "/v1/skills",
	}
	objectOf = map[string]string{
		"upload_": "upload", "batch_": "batch", "msgbatch_": "message_batch", "conv_": "conversation", "vs_": "vector_store", "cntr_": "container", "ftjob-": "fine_tuning.job",
		"video_": "video", "skill_": "skill", "file-": "file", "file_": "file", "resp_": "response", "chatcmpl-": "chat.completion", "vsfb_": "vector_store.file_batch", "cfile_": "container.file",
	}
)

// response is a response in which the provider has run code: it names a container and a file in it.
func (d *depot) response(body string) string {
	container, status := d.give("cntr_"), "completed"
	if strings.Contains(body, `"background":true`) {
		status = "in_progress"
	}
	whole := `{"id":"` + d.give("resp_") + `","object":"response","created_at":1,"status":"` + status + `","model":"m","output":[` +
		`{"id":"ci_1","type":"code_interpreter_call","status":"completed","code":"file_id","container_id":"` + container + `","outputs":null},` +
		`{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[` +
		`{"type":"container_file_citation","container_id":"` + container + `","file_id":"` + d.give("cfile_") + `","start_index":0,"end_index":1,"filename":"a"},` +
		`{"type":"file_citation","file_id":"` + d.give("file-") + `","index":0,"filename":"b"}]}]}],` +
		`"tools":[],"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}`
	if !strings.Contains(body, `"stream":true`) {
		return whole
	}
	return "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":" + whole + "}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":1,\"response\":" + whole + "}\n\n"
}

// message is a message with the results of code that the provider has run, and a citation.
func (d *depot) message() string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` +
		`{"type":"server_tool_use","id":"srvtoolu_1","name":"code_execution","input":{"file_id":"of the model"}},` +
		`{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"code_execution_result","stdout":"","stderr":"","return_code":0,"content":[{"type":"code_execution_output","file_id":"` + d.give("file_") + `"}]}},` +
		`{"type":"text","text":"hi","citations":[{"type":"char_location","cited_text":"a","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1,"file_id":"` + d.give("file_") + `"}]}],` +
		`"container":{"id":"` + d.give("container_") + `","expires_at":"2026-12-01T00:00:00Z"},"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}`
}

// messageStream is such a message as a stream.
func (d *depot) messageStream() string {
	var all strings.Builder
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"container":{"id":"` + d.give("container_") + `","expires_at":"x"},"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"code_execution_result","stdout":"","stderr":"","return_code":0,"content":[{"type":"code_execution_output","file_id":"` + d.give("file_") + `"}]}}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"a","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1,"file_id":"` + d.give("file_") + `"}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"container":{"id":"` + d.give("container_") + `","expires_at":"x"}},"usage":{"output_tokens":2}}`,
		`{"type":"message_stop"}`,
	} {
		kind := regexp.MustCompile(`"type":"(\w+)"`).FindStringSubmatch(event)[1]
		all.WriteString("event: " + kind + "\ndata: " + event + "\n\n")
	}
	return all.String()
}

// requests returns the requests so far.
func (d *depot) requests() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

// ids returns the ids that the account has given so far.
func (d *depot) ids() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.given {
		all = append(all, id)
	}
	return all
}

// newest returns the newest id of a kind.
func (d *depot) newest(kind string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.given) - 1; i >= 0; i-- {
		if id := fmt.Sprintf("%s%s%022d", kind, d.salt, i); d.given[id] {
			return id
		}
	}
	d.t.Fatalf("no id of the kind %s was given", kind)
	return ""
}
