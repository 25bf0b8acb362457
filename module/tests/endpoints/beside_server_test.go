package endpoints_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// server is a server of OpenAI's API that has the endpoints beside text. It refuses what the
// service refuses: other paths, other credentials, a length that is not that of the body.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	received []request
	answer   http.HandlerFunc // of the next requests
}

// request is what the server has received.
type request struct {
	path, contentType, body string
}

const upstreamKey = "sk-upstream-0123456789abcdef"

func newServer(t *testing.T, answer http.HandlerFunc) *server {
	s := &server{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, "Bearer "+upstreamKey, r.Header.Get("Authorization"))
		assert.EqualValues(t, len(body), r.ContentLength)
		s.mu.Lock()
		s.received = append(s.received, request{r.URL.Path, r.Header.Get("Content-Type"), string(body)})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// last returns the request that the server has received last.
func (s *server) last() request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received[len(s.received)-1]
}

// answering returns a handler that answers with a type and a body.
func answering(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// start runs a gateway before the server, whose model small is the server's big-1 unless a line
// has that model.
func start(t *testing.T, s *server, lines ...string) *site.Site {
	t.Helper()
	t.Setenv("UPSTREAM_KEY", upstreamKey)
	if !strings.Contains(strings.Join(lines, "\n"), "model small {") {
		lines = append(lines, "model small {\nto up/big-1\n}")
	}
	return site.Start(t, append(lines, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"), fmt.Sprintf("provider up openai_compatible {env.UPSTREAM_KEY} {\nbase_url %s/v1\n}", s.URL))...)
}

// record is a record of the ledger.
type record struct {
	Operation, Outcome, Model string
	Status                    int
	Calls                     []struct {
		Model                                          string `json:"upstream_model"`
		Input                                          int64  `json:"input_tokens"`
		Output                                         int64  `json:"output_tokens"`
		Source                                         string
		Price                                          string
		Costing                                        string `json:"cost_source"`
		Images, Seconds, Characters, Queries, Searches int64
		Cost                                           int64 `json:"cost_nano"`
	}
}

// recordOf waits for the record of a request with one call, and returns it.
func recordOf(t *testing.T, c *site.Site, id string) (r record) {
	t.Helper()
	address := strings.TrimPrefix(c.AdminURL(""), "http://")
	require.EventuallyWithT(t, func(now *assert.CollectT) {
		var records []record
		text := site.RunCommand(t, "ai-gateway usage --records --json --address "+address+" --request "+id)
		if assert.NoError(now, json.Unmarshal([]byte(text), &records)) && assert.Len(now, records, 1) {
			r = records[0]
		}
	}, site.Patience, site.PollEvery)
	require.Len(t, r.Calls, 1)
	return r
}

// form returns a form with parts, "name=value" or "name@file=content" each, and its type.
func form(t *testing.T, parts ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	require.NoError(t, w.SetBoundary("a-boundary-of-the-test"))
	for _, part := range parts {
		name, value, _ := bytes.Cut([]byte(part), []byte("="))
		field, file, isFile := bytes.Cut(name, []byte("@"))
		var content io.Writer
		var err error
		if isFile {
			content, err = w.CreateFormFile(string(field), string(file))
		} else {
			content, err = w.CreateFormField(string(field))
		}
		require.NoError(t, err)
		_, err = content.Write(value)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String(), w.FormDataContentType()
}
