//go:build clients

package endpoints_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// suiteAnswers are the answers of a strict server, by path.
var suiteAnswers = map[string]string{
	"/v1/embeddings": vectors, "/v1/moderations": `{"id":"modr-1","model":"big-1","results":[{"flagged":false}]}`,
	compactPath:              `{"id":"resp_1","object":"response.compaction","created_at":1,"output":[{"type":"compaction","id":"cmp_1","encrypted_content":"opaque=="}],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`,
	"/v1/decisions":          `{"id":"dec_1","model":"big-1","answers":[{"type":"predicate","name":"q","probability":0.75}],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`,
	"/v1/images/generations": `{"created":1,"data":[{"b64_json":"UE5H"}]}`, "/v1/images/edits": `{"created":1,"data":[{"b64_json":"UE5H"}]}`,
	"/v1/audio/transcriptions": `{"text":"hello"}`, "/v1/audio/translations": `{"text":"hello"}`, "/v1/audio/speech": "ID3\x00\xff",
}

// suiteStreams are the events of streams, by path.
var suiteStreams = map[string]string{
	"/v1/images/generations": `data: {"type":"image_generation.partial_image","b64_json":"UE5H","partial_image_index":0}` + "\n\n" +
		`data: {"type":"image_generation.completed","b64_json":"UE5H","usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}` + "\n\n",
	"/v1/audio/transcriptions": `data: {"type":"transcript.text.delta","delta":"hel"}` + "\n\n" + `data: {"type":"transcript.text.done","text":"hello"}` + "\n\n",
}

// strictly answers requests that have the model and the files of the official client.
func strictly(w http.ResponseWriter, r *http.Request) {
	fields, files := map[string]string{}, []string{}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		_ = r.ParseMultipartForm(1 << 20) // without fields after an error
		for name, values := range r.PostForm {
			fields[name] = values[0]
		}
		if r.MultipartForm != nil {
			for name, parts := range r.MultipartForm.File {
				for _, part := range parts {
					files = append(files, name+" "+part.Filename)
				}
			}
		}
	} else {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		for name, value := range body {
			text, _ := json.Marshal(value)
			fields[name] = strings.Trim(string(text), `"`)
		}
	}
	wanted := map[string]int{"/v1/images/edits": 3, "/v1/audio/transcriptions": 1, "/v1/audio/translations": 1}[r.URL.Path]
	switch {
	case fields["model"] != "big-1" || len(files) != wanted || fields["input"] == "refuse":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"refused","type":"invalid_request_error","param":"input","code":"too_long"}}`)
	case fields["stream"] == "true":
		answering("text/event-stream", suiteStreams[r.URL.Path])(w, r)
	case fields["response_format"] == "srt":
		answering("text/plain", "1\n00:00:00,000 --> 00:00:01,000\nhello\n")(w, r)
	case r.URL.Path == "/v1/audio/speech":
		answering("audio/mpeg", suiteAnswers[r.URL.Path])(w, r)
	default:
		answering("application/json", suiteAnswers[r.URL.Path])(w, r)
	}
}

// TestTheVendorsClientsUseTheEndpointsBesideText runs the suite of OpenAI's own client. npm ci
// must have installed the suite, which is why a build tag guards the test.
func TestTheVendorsClientsUseTheEndpointsBesideText(t *testing.T) {
	server := newServer(t, strictly)
	c := start(t, server, "model short {\nto shortener/big-1\n}", fmt.Sprintf("provider shortener openai {env.UPSTREAM_KEY} {\nbase_url %s/v1\nmodels big-1\n}", server.URL))
	suite := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=120000", "beside.test.js")
	suite.Dir = filepath.FromSlash("../../../testdata/clients/fakes")
	suite.Env = append(os.Environ(), "FORCE_COLOR=0", "GATEWAY_URL="+c.URL("site", ""), "GATEWAY_KEY="+site.ClientKey)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^ℹ pass [1-9]`, string(out))
	assert.Contains(t, string(out), "ℹ skipped 0\n")
}
