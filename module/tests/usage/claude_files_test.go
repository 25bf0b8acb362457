package usage_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// claudeFiles is a vendor of the messages format that stores files, as Anthropic does.
type claudeFiles struct {
	*httptest.Server

	mu   sync.Mutex
	file *vendorFile
	sent []string // the method, path, beta and body of each request but uploads
}

// rawClaudeFile is the id of the only file of the vendor.
const rawClaudeFile = "file_00000000000000000000000001"

func startClaudeFiles(t *testing.T) *claudeFiles {
	f := new(claudeFiles)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/files", func(w http.ResponseWriter, r *http.Request) {
		file, err := readForm(r, "file")
		assert.NoError(t, err)
		f.mu.Lock()
		f.file = file
		f.mu.Unlock()
		answerJSON(w, map[string]any{"id": rawClaudeFile, "type": "file", "filename": "a.txt", "size_bytes": file.size})
	})
	mux.HandleFunc("GET /v1/files", func(http.ResponseWriter, *http.Request) { t.Error("a list has the files of all clients") })
	mux.HandleFunc("GET /v1/files/"+rawClaudeFile, func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, map[string]any{"id": rawClaudeFile, "type": "file"})
	})
	mux.HandleFunc("GET /v1/files/"+rawClaudeFile+"/content", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	mux.HandleFunc("DELETE /v1/files/"+rawClaudeFile, func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, map[string]any{"id": rawClaudeFile, "type": "file_deleted"})
	})
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, json.RawMessage(`{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}`))
	})
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Anthropic-Beta")
		if r.Header.Get("Content-Type") == "application/json" {
			body, _ := io.ReadAll(r.Body)
			line += " " + string(body)
		}
		f.mu.Lock()
		f.sent = append(f.sent, line)
		f.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// requests returns the requests so far.
func (f *claudeFiles) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.sent...)
}

// Clients of Anthropic's API had no files: those of the vendor are readable by all who use the account.
func TestX165FilesOfAnthropicsClientsAreTheirOwn(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		site.SetKeys(t)
		f := startClaudeFiles(t)
		lines := []string{
			w.ProviderAt("other", "127.0.0.1:9", "format messages", "models elsewhere"),
			w.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), "format messages", "files_state sealed", "models claude"),
			"model claude {\nto other/claude\nto p/claude\n}", "key alice {env.KEY_ALICE}", "key bob {env.KEY_BOB}",
		}
		s := site.Start(t, lines...)
		call := func(key, method, path, body, contentType string) site.Reply {
			headers := []string{"X-Api-Key", key, "Anthropic-Version", "2023-06-01", "Anthropic-Beta", "files-api-2025-04-14"}
			if contentType != "" {
				headers = append(headers, "Content-Type", contentType)
			}
			return s.Call(method, s.URL("site", path), body, headers...)
		}
		form, contentType := formOf(formPart{"file", "a.txt", "hello"}, formPart{"expires_in_seconds", "", "3600"})
		body, _ := io.ReadAll(form)
		created := call(site.AliceKey, http.MethodPost, "/v1/files?beta=true", string(body), contentType)
		id := idIn(t, created)
		assert.Regexp(t, `^file_1[\w-]+$`, id)
		assert.NotContains(t, created.Body, rawClaudeFile)
		assert.Equal(t, vendorFile{map[string]string{"expires_in_seconds": "3600"}, "a.txt application/octet-stream", "hello", 5}, *f.file)
		assert.Equal(t, "POST /v1/files?beta=true files-api-2025-04-14", f.requests()[0])

		path := "/v1/files/" + id
		assert.Equal(t, id, idIn(t, call(site.AliceKey, http.MethodGet, path, "", "")))
		assert.Equal(t, "hello", call(site.AliceKey, http.MethodGet, path+"/content", "", "").Body)

		const message = `{"model":"claude","max_tokens":9, "messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"ID"}},{"type":"container_upload","file_id":"ID"},{"type":"text","text":"ID"}]}]}`
		answer := call(site.AliceKey, http.MethodPost, site.MessagesPath, strings.ReplaceAll(message, "ID", id), "application/json")
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		sent := f.requests()
		want := strings.Replace(strings.Replace(message, `"ID"`, `"`+rawClaudeFile+`"`, 2), "ID", id, 1)
		assert.Equal(t, "POST /v1/messages files-api-2025-04-14 "+want, sent[len(sent)-1], "at the provider of the file, and texts are no ids")

		for _, foreign := range []string{id, rawClaudeFile, "file_1"} {
			key := site.BobKey
			refused := call(key, http.MethodPost, site.MessagesPath, strings.ReplaceAll(message, "ID", foreign), "application/json")
			assert.Equal(t, http.StatusNotFound, refused.Status, refused.Body)
			assert.Contains(t, refused.Body, "not found")
			for _, line := range []string{"GET /v1/files/", "DELETE /v1/files/"} {
				method, at, _ := strings.Cut(line, " ")
				assert.Equal(t, http.StatusNotFound, call(key, method, at+foreign, "", "").Status, line+foreign)
			}
		}
		assert.Equal(t, http.StatusNotFound, call(site.AliceKey, http.MethodGet, "/v1/files", "", "").Status)
		assert.Len(t, f.requests(), len(sent), "nothing is sent")
		deleted := call(site.AliceKey, http.MethodDelete, path, "", "")
		assert.Equal(t, id, idIn(t, deleted))
	})
}

// OpenAI and Anthropic have files at one path: the clients of one got the objects of the other.
func TestAPathOfFilesIsThatOfTheFormatOfTheClient(t *testing.T) {
	site.SetKeys(t)
	f := startClaudeFiles(t)
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), "format messages", "files_state sealed", "models claude"), "key alice {env.KEY_ALICE}")
	answer := s.Call(http.MethodGet, s.URL("site", "/v1/files/file_1"), "", "Authorization", "Bearer "+site.AliceKey)
	assert.Equal(t, http.StatusNotFound, answer.Status)
	assert.Contains(t, answer.Body, "the gateway does not serve /v1/files", "no provider stores files for OpenAI's clients")
	answer = s.Call(http.MethodGet, s.URL("site", "/v1/files/file_1"), "", "Authorization", "Bearer "+site.AliceKey, "Anthropic-Version", "2023-06-01")
	assert.Contains(t, answer.Body, `"type":"not_found_error"`)
	assert.Contains(t, answer.Body, "File with id 'file_1' not found.")
}
