package endpoints_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/openapi"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// describedSite returns a site that can give every documented answer. more are further lines.
func describedSite(t *testing.T, more ...string) (*site.Site, *gatewaytest.Provider, *openapi.Document) {
	t.Helper()
	t.Setenv("KEY_BOB", site.BobKey)
	t.Setenv("KEY_ELSEWHERE", elsewhereKey)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, append(more, "provider demo {\npace off\nmodels demo-known allowed-*\n}", "max_body 4KB", "key bob {env.KEY_BOB} {\nmodels allowed-*\n}", "key elsewhere {env.KEY_ELSEWHERE} {\nfrom 192.0.2.0/24\n}", site.Direct.Provider("up", p, "models counted"))...)
	answer := s.Raw("", "GET /api/openapi.json HTTP/1.1")
	require.Equal(t, http.StatusOK, answer.Status)
	return s, p, openapi.ParseDocument(t, []byte(answer.Body))
}

// The document contains exactly the existing routes of models.
func TestDocumentNamesEveryEndpointOfModels(t *testing.T) {
	_, _, document := describedSite(t)
	routes, err := os.ReadFile(filepath.Join(site.Root(t), "module", "gateway", "request", "routes", "endpoints.go"))
	require.NoError(t, err)
	routed := make(map[string]bool)
	constants := map[string]string{"modelsPath": "/v1/models", "modelsPrefix": "/v1/models/{id}", "CachePath": "/v1/cache"}
	for _, found := range regexp.MustCompile(`(?m)^\t+"?([\w/]+)"?: +\{method: http\.Method(\w+),`).FindAllStringSubmatch(string(routes), -1) {
		routed[strings.ToUpper(found[2])+" "+cmp.Or(constants[found[1]], found[1])] = true
	}
	for _, format := range formats.All() {
		for _, e := range format.Client.Endpoints {
			routed[e.Method+" "+e.Path] = true
		}
		for _, r := range format.Client.Refusals {
			if r.Upgrade != "" {
				routed["GET "+r.Path] = true
			}
			if r.Secret {
				routed[r.Method+" "+r.Path] = true
			}
		}
		for _, o := range format.Objects.Paths {
			routed[o.Method+" "+o.Path] = true
		}
		if versions := format.Client.Versions; versions != nil {
			routed["GET "+versions[0]+"/models"], routed["GET "+versions[0]+"/models/{model}"] = true, true
		}
	}
	described := make(map[string]bool)
	for _, o := range slices.Concat(document.Operations("/v1"), document.Operations("/upload"), document.Operations("/download"), document.Operations("/ws")) {
		described[o.Method+" "+o.Path] = true
	}
	require.NotEmpty(t, routed)
	assert.Equal(t, routed, described)
}

// elsewhereKey may be used only in a network without clients.
const elsewhereKey = "sk-used-in-another-network"

// described is a request with one of the documented statuses.
type described struct {
	status  int
	model   string   // default: a model of the demo provider
	prompt  string   // default: none; body is used
	body    string   // default: a body for the endpoint
	headers []string // names and values
}

// refusedAlike are requests that all endpoints with a body refuse in the same way.
var refusedAlike = []described{
	{status: 400, body: "{"},
	{status: 401, headers: []string{"Authorization", "Bearer wrong"}},
	{status: 403, headers: []string{"Authorization", "Bearer " + site.BobKey}},
	{status: 404, model: "unheard-of"},
	{status: 413, body: `{"model":"` + strings.Repeat("m", 5000) + `"}`},
	{status: 415, headers: []string{"Content-Type", "text/plain"}},
}

// failedAlike are answers and failures of the provider.
var failedAlike = []described{
	{status: 200, prompt: "hello"},
	{status: 429, prompt: "[[fault:429]]"},
	{status: 500, prompt: "[[fault:500]]"},
	{status: 502, prompt: "[[fault:reset]]"},
	{status: 504, prompt: "[[fault:504]]"},
}

// A running gateway answers with every documented status of the endpoints of models, and
// with a body that matches the document.
func TestDocumentDescribesTheAnswersOfModels(t *testing.T) {
	s, p, document := describedSite(t)
	given := make(map[string]bool)
	check := func(method, path string, answer site.Reply) {
		t.Helper()
		assert.Empty(t, document.Check(method, path, answer.Status, []byte(answer.Body)), answer.Body)
		given[fmt.Sprint(method, " ", path, " ", answer.Status)] = true
	}
	for _, path := range slices.Concat(site.CountPaths, site.CallPaths) {
		overloaded, failure := described{status: 503, prompt: "[[fault:503]]"}, `{"error":{"message":"no","type":"server_error","param":null,"code":null}}`
		if strings.HasPrefix(path, site.MessagesPath) {
			overloaded, failure = described{status: 529, prompt: "[[fault:529]]"}, `{"type":"error","error":{"type":"api_error","message":"no"}}`
		}
		for _, r := range append(slices.Concat(refusedAlike, failedAlike), overloaded) {
			if slices.Contains(site.CountPaths, path) && r.status >= 429 { // the demo provider counts what it would fail to answer
				p.Script(gatewaytest.Body(r.status, "application/json", []byte(failure)))
				r = described{status: r.status, model: "counted", prompt: "hi"}
			}
			answer := s.Ask(path, r.text(path), r.headers...)
			assert.Equal(t, r.status, answer.Status, "%s %+v: %s", path, r, answer.Body)
			check("POST", path, answer)
		}
	}
	for _, path := range besideText {
		for _, r := range []described{
			{status: 200, model: "counted"}, {status: 404, model: "unheard-of"}, {status: 403, headers: []string{"Authorization", "Bearer " + site.BobKey}},
			{status: 401, headers: []string{"Authorization", "Bearer wrong"}}, {status: 415, headers: []string{"Content-Type", "text/plain"}},
			{status: 413, model: strings.Repeat("m", 5000)}, {status: 400, model: "\x01"},
		} {
			if r.status == http.StatusOK {
				p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"data":[],"output":[]}`)))
			}
			body, contentType := bodyBeside(path, cmp.Or(r.model, "demo-known"))
			answer := s.Ask(path, body, append([]string{"Content-Type", contentType}, r.headers...)...)
			assert.Equal(t, r.status, answer.Status, "%s %+v: %s", path, r, answer.Body)
			check("POST", path, answer)
		}
	}
	p.Script(modelList(`{"id":"counted","created":1790000000,"name":"Counted","context_length":4096,"max_completion_tokens":512}`))
	for _, target := range []string{"", "/counted", "/demo-known", "/unheard-of", "?limit=x"} {
		for _, lines := range [][]string{nil, {version}} {
			path := "/v1/models"
			if strings.HasPrefix(target, "/") {
				path = "/v1/models/{id}"
			}
			check("GET", path, s.List(site.ClientKey, "/v1/models"+target, lines...))
			check("GET", path, s.List("wrong", "/v1/models"+target, lines...))
			check("GET", path, s.List(elsewhereKey, "/v1/models"+target, lines...))
			check("GET", path, s.Raw("", append([]string{"GET /v1/models" + target + " HTTP/1.1", "Authorization: Bearer a", "Authorization: Bearer b"}, lines...)...))
		}
	}
	capabilities := "/v1/capabilities"
	check("GET", capabilities, s.List(site.ClientKey, capabilities))
	check("GET", capabilities, s.List("wrong", capabilities))
	check("GET", capabilities, s.List(elsewhereKey, capabilities))
	check("GET", capabilities, s.Raw("", "GET "+capabilities+" HTTP/1.1", "Authorization: Bearer a", "Authorization: Bearer b"))
	check("GET", site.ResponsesPath, s.List("wrong", site.ResponsesPath, "Upgrade: websocket"))
	check("GET", site.ResponsesPath, s.List(site.ClientKey, site.ResponsesPath, "Upgrade: websocket"))
	check("GET", "/v1/realtime", s.List("wrong", "/v1/realtime?model=demo-known", "Upgrade: websocket"))
	check("GET", "/v1/realtime", s.List(site.ClientKey, "/v1/realtime?model=demo-known", "Upgrade: websocket"))
	check("GET", "/v1/live/sessions", s.List("wrong", "/v1/live/sessions", "Upgrade: websocket"))
	check("GET", "/v1/live/sessions", s.List(site.ClientKey, "/v1/live/sessions", "Upgrade: websocket"))
	given["GET /v1/responses 101"], given["GET /v1/realtime 101"], given["GET /v1/live/sessions 101"] = true, true, true // of the tests of WebSockets
	const secrets = "/v1/realtime/client_secrets"
	check("POST", secrets, s.Ask(secrets, "{}", "Authorization", "Bearer wrong"))
	check("POST", secrets, s.Ask(secrets, "{}"))
	given["POST "+secrets+" 200"] = true // of the tests of WebSockets
	const cache = "/v1/cache"
	remove := func(lines ...string) site.Reply {
		return s.Raw("", append([]string{"DELETE " + cache + " HTTP/1.1"}, lines...)...)
	}
	check("DELETE", cache, remove("Authorization: Bearer "+site.ClientKey)) // without a cache of answers
	check("DELETE", cache, remove("Authorization: Bearer wrong"))
	check("DELETE", cache, remove("Authorization: Bearer "+elsewhereKey))
	check("DELETE", cache, remove("Authorization: Bearer a", "Authorization: Bearer b"))
	given["DELETE "+cache+" 200"] = true // of TestAKeyRemovesItsCachedAnswers
	billing := []string{"/api/usage/token", "/dashboard/billing/subscription", "/dashboard/billing/usage"}
	for _, path := range billing {
		check("GET", path, s.List(site.ClientKey, path))
		check("GET", path, s.List("wrong", path))
		check("GET", path, s.List(elsewhereKey, path))
		check("GET", path, s.Raw("", "GET "+path+" HTTP/1.1", "Authorization: Bearer a", "Authorization: Bearer b"))
	}
	for _, o := range slices.Concat(document.Operations("/v1/"), document.Operations("/dashboard/"), document.Operations("/api/usage/token")) {
		if isStored(o.Path) {
			continue // of TestDocumentDescribesTheAnswersAboutStoredObjects
		}
		for _, status := range o.Statuses {
			// The default describes what providers answer beyond these: clients that were
			// generated from the document failed with it.
			assert.True(t, status == "default" || given[o.Method+" "+o.Path+" "+status], "nothing has given %s %s %s", o.Method, o.Path, status)
		}
	}
}

// isOfBatches reports whether a documented path is that of a batch.
func isOfBatches(path string) bool { return strings.HasPrefix(path, site.MessagesPath+"/batches") }

func TestDocumentDescribesTheAnswersAboutBatches(t *testing.T) {
	const batch = `{"id":"msgbatch_1","type":"message_batch","processing_status":"ended","results_url":"https://example.com"}`
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := batch
		switch {
		case r.Method == http.MethodDelete:
			answer = `{"id":"msgbatch_1","type":"message_batch_deleted"}`
		case strings.HasSuffix(r.URL.Path, "/results"):
			answer = `{"custom_id":"a","result":{"type":"expired"}}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(vendor.Close)
	s, _, document := describedSite(t, "max_batch 4KB", site.Direct.ProviderAt("batching", strings.TrimPrefix(vendor.URL, "http://"), "batches sealed", "models batched", "format messages"))
	body := func(model string) string {
		return `{"requests":[{"custom_id":"a","params":{"model":"` + model + `","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}}]}`
	}
	ask := func(method, path, key, body, contentType string) site.Reply {
		return s.Call(method, s.URL("site", path), body, "X-Api-Key", key, "Anthropic-Version", "2023-06-01", "Content-Type", contentType)
	}
	id := idOf(t, ask(http.MethodPost, site.MessagesPath+"/batches", site.ClientKey, body("batched"), "application/json").Body)
	for _, o := range slices.DeleteFunc(document.Operations("/v1/"), func(o openapi.Operation) bool { return !isOfBatches(o.Path) }) {
		given := make(map[string]bool)
		for _, try := range []struct{ key, id, body, contentType string }{
			{key: "wrong"}, {key: elsewhereKey}, {id: "unknown", body: body("unheard-of")},
			{body: "["}, {contentType: "text/plain"}, {body: body(strings.Repeat("m", 5000))}, {},
		} {
			path := strings.Replace(o.Path, "{id}", cmp.Or(try.id, id), 1)
			answer := ask(o.Method, path, cmp.Or(try.key, site.ClientKey), cmp.Or(try.body, body("batched")), cmp.Or(try.contentType, "application/json"))
			assert.Empty(t, document.Check(o.Method, o.Path, answer.Status, []byte(answer.Body)), answer.Body)
			given[strconv.Itoa(answer.Status)] = true
		}
		for _, status := range o.Statuses {
			assert.True(t, status == "default" || given[status], "nothing has given %s %s %s", o.Method, o.Path, status)
		}
	}
}

// isOfFiles reports whether a documented path is that of a file, of an upload, or of a batch of a file.
func isOfFiles(path string) bool {
	return strings.HasPrefix(path, "/v1/files") || strings.HasPrefix(path, "/v1/uploads") || strings.HasPrefix(path, "/v1/batches")
}

func TestDocumentDescribesTheAnswersAboutFiles(t *testing.T) {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		answer := `{"id":"file-1","object":"file","purpose":"user_data","deleted":true}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/content"):
			w.Header().Set("Content-Type", "application/octet-stream")
		case strings.HasSuffix(r.URL.Path, "/parts"):
			answer = `{"id":"part_1","object":"upload.part","upload_id":"upload_1"}`
		case strings.HasPrefix(r.URL.Path, "/v1/batches"):
			answer = `{"id":"batch_1","object":"batch","status":"completed","input_file_id":"file-1","output_file_id":null}`
		case strings.HasPrefix(r.URL.Path, "/v1/uploads"):
			answer = `{"id":"upload_1","object":"upload","status":"completed","file":` + answer + `}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(vendor.Close)
	s, _, document := describedSite(t, "max_upload 4KB", site.Direct.ProviderAt("filing", strings.TrimPrefix(vendor.URL, "http://"), "files_state sealed", "batches sealed", "models filed", "format chat"))
	const form = "multipart/form-data; boundary=b"
	body := func(name, content string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"a\"\r\n\r\n" + content + "\r\n--b--"
	}
	ask := func(method, path, key, body, contentType string) site.Reply {
		return s.Call(method, s.URL("site", path), body, "Authorization", "Bearer "+key, "Content-Type", contentType)
	}
	ids := map[string]string{
		"/v1/files":   idOf(t, ask(http.MethodPost, "/v1/files", site.ClientKey, body("file", "a"), form).Body),
		"/v1/uploads": idOf(t, ask(http.MethodPost, "/v1/uploads", site.ClientKey, "{}", "application/json").Body),
	}
	batch := `{"input_file_id":"` + ids["/v1/files"] + `","endpoint":"/v1/chat/completions"}`
	ids["/v1/batches"] = idOf(t, ask(http.MethodPost, "/v1/batches", site.ClientKey, batch, "application/json").Body)
	for _, o := range slices.DeleteFunc(document.Operations("/v1/"), func(o openapi.Operation) bool { return !isOfFiles(o.Path) }) {
		before, _, withID := strings.Cut(o.Path, "/{id}")
		part, whole, contentType := "file", "{}", "application/json"
		if strings.HasSuffix(o.Path, "/parts") {
			part = "data"
		}
		if o.Path == "/v1/batches" {
			whole = batch
		}
		if o.Path == "/v1/files" || part == "data" {
			whole, contentType = body(part, "a"), form
		}
		given := make(map[string]bool)
		for _, try := range []struct{ key, id, body, contentType string }{
			{key: "wrong"}, {key: elsewhereKey}, {id: "unknown"},
			{body: "["}, {contentType: "text/plain"}, {body: body(part, strings.Repeat("m", 5000))}, {body: `{"filename":"` + strings.Repeat("m", 5000) + `"}`}, {},
		} {
			path := strings.Replace(o.Path, "{id}", cmp.Or(try.id, ids[before]), 1)
			answer := ask(o.Method, path, cmp.Or(try.key, site.ClientKey), cmp.Or(try.body, whole), cmp.Or(try.contentType, contentType))
			assert.Empty(t, document.Check(o.Method, o.Path, answer.Status, []byte(answer.Body)), answer.Body)
			given[strconv.Itoa(answer.Status)] = true
		}
		given["404"] = given["404"] || !withID // of a site without files
		for _, status := range o.Statuses {
			assert.True(t, status == "default" || given[status], "nothing has given %s %s %s", o.Method, o.Path, status)
		}
	}
}

// isOfGemini reports whether a documented path is that of a stored object of the Gemini API.
func isOfGemini(path string) bool {
	return strings.HasPrefix(path, "/upload/") || strings.HasPrefix(path, "/download/") || strings.HasPrefix(path, "/v1beta/files") || strings.HasPrefix(path, "/v1beta/batches") || strings.HasSuffix(strings.ToLower(path), "batchgeneratecontent") || strings.HasSuffix(path, "asyncBatchEmbedContent")
}

func TestDocumentDescribesTheAnswersAboutObjectsOfGeminiClients(t *testing.T) {
	const file = `{"name":"files/abc","uri":"https://vendor.example.com/v1beta/files/abc"}`
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		answer := file
		switch {
		case strings.HasPrefix(r.URL.Path, "/upload/"):
			w.Header().Set("X-Goog-Upload-Status", "final")
			answer = `{"file":` + file + `}`
		case strings.Contains(strings.ToLower(r.URL.Path), "batch"):
			answer = `{"name":"batches/abc","metadata":{"name":"batches/abc"}}`
		case r.Method == http.MethodDelete:
			answer = `{}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(vendor.Close)
	s, _, document := describedSite(t, site.Direct.ProviderAt("storing", strings.TrimPrefix(vendor.URL, "http://"), "files_state sealed", "batches sealed", "models gem", "format gemini"), "max_upload 4KB", "max_batch 4KB")
	whole := []string{"X-Goog-Upload-Protocol", "multipart"}
	const related = "multipart/related; boundary=b"
	upload := func(content string) string {
		return "--b\r\n\r\n{}\r\n--b\r\n\r\n" + content + "\r\n--b--"
	}
	created := s.Call(http.MethodPost, s.URL("site", "/upload/v1beta/files"), upload("a"), append(whole, "Authorization", "Bearer "+site.ClientKey, "Content-Type", related)...)
	id := regexp.MustCompile(`files/(1\w+)`).FindStringSubmatch(created.Body)
	require.NotNil(t, id, created.Body)
	const request = `{"batch":{"inputConfig":{"requests":{"requests":[{"request":{"contents":[{"parts":[{"text":"a"}]}],"content":{}}}]}}}}`
	batch := regexp.MustCompile(`batches/(1\w+)`).FindStringSubmatch(s.Ask("/v1beta/models/gem:batchGenerateContent", request).Body)
	require.NotNil(t, batch)
	for _, o := range slices.DeleteFunc(slices.Concat(document.Operations("/v1beta/"), document.Operations("/upload/"), document.Operations("/download/")), func(o openapi.Operation) bool { return !isOfGemini(o.Path) }) {
		given := make(map[string]bool)
		for _, try := range []struct{ key, id, body, contentType string }{
			{key: "wrong"}, {key: elsewhereKey}, {id: "1a"}, {}, {body: "["}, {contentType: "text/plain"}, {body: upload(strings.Repeat("a", 5000))},
		} {
			known, ofModel := id[1], strings.Contains(o.Path, "{model}")
			if strings.Contains(o.Path, "/batches/") {
				known = batch[1]
			}
			path := strings.NewReplacer("{id}", cmp.Or(try.id, known), "{model}", map[bool]string{true: "gem", false: "unknown"}[try.id == ""]).Replace(o.Path)
			if o.Path == "/upload/v1beta/files" && try.id != "" {
				path += "?upload_id=" + try.id
			}
			body, contentType := cmp.Or(try.body, upload("a")), cmp.Or(try.contentType, related)
			if ofModel {
				body, contentType = cmp.Or(try.body, request), cmp.Or(try.contentType, "application/json")
			}
			headers := append(whole, "Authorization", "Bearer "+cmp.Or(try.key, site.ClientKey), "Content-Type", contentType)
			answer := s.Call(o.Method, s.URL("site", path), body, headers...)
			assert.Empty(t, document.Check(o.Method, o.Path, answer.Status, []byte(answer.Body)), "%s %s: %s", o.Method, o.Path, answer.Body)
			given[strconv.Itoa(answer.Status)] = true
		}
		for _, status := range o.Statuses {
			assert.True(t, status == "default" || given[status], "nothing has given %s %s %s", o.Method, o.Path, status)
		}
	}
}

// isStored reports whether a documented path is that of a stored object.
func isStored(path string) bool {
	return isOfBatches(path) || isOfFiles(path) || isOfGemini(path) || strings.HasPrefix(path, "/v1/responses/{id}") || strings.HasPrefix(path, conversationsPath) || strings.HasPrefix(path, site.ChatPath+"/{id}")
}

func TestDocumentDescribesTheAnswersAboutStoredObjects(t *testing.T) {
	v := startVendor(t)
	d, _, document := describedSite(t, site.Direct.ProviderAt("storing", strings.TrimPrefix(v.URL, "http://"), "responses_state sealed", "models gpt", "format responses chat"))
	s := storing{d, v}
	for _, o := range slices.DeleteFunc(document.Operations("/v1/"), func(o openapi.Operation) bool {
		return !isStored(o.Path) || isOfBatches(o.Path) || isOfFiles(o.Path) || isOfGemini(o.Path)
	}) {
		given := make(map[string]bool)
		for _, try := range []struct{ key, id, body, contentType string }{
			{key: "wrong"}, {key: elsewhereKey}, {id: "unknown"},
			{body: "["}, {contentType: "text/plain"}, {body: `{"metadata":{"a":"` + strings.Repeat("m", 5000) + `"}}`}, {},
		} {
			path := s.storedPath(t, o.Path, try.id)
			answer := s.Call(o.Method, s.URL("site", path), cmp.Or(try.body, `{"metadata":{}}`), "Authorization", "Bearer "+cmp.Or(try.key, site.ClientKey), "Content-Type", cmp.Or(try.contentType, "application/json"))
			assert.Empty(t, document.Check(o.Method, o.Path, answer.Status, []byte(answer.Body)), answer.Body)
			given[strconv.Itoa(answer.Status)] = true
		}
		for _, status := range o.Statuses {
			assert.True(t, status == "default" || given[status], "nothing has given %s %s %s", o.Method, o.Path, status)
		}
	}
}

// storedPath returns a path of an object that was just stored, or of one with another id.
func (s storing) storedPath(t *testing.T, pattern, id string) string {
	t.Helper()
	stored := map[string]func() string{
		"/v1/responses":     func() string { return s.create(t, "") },
		site.ChatPath:       func() string { return s.complete(t, `,"store":true`) },
		"/v1/conversations": func() string { return strings.TrimPrefix(s.converse(t), conversationsPath+"/") },
	}
	before, _, _ := strings.Cut(pattern, "/{id}")
	if id == "" {
		id = stored[before]()
	}
	items := s.manage(site.ClientKey, http.MethodGet, before+"/"+id+"/items")
	item := regexp.MustCompile(`msg_\d+`).FindString(items.Body)
	return strings.NewReplacer("{id}", id, "{item_id}", cmp.Or(item, "msg_0")).Replace(pattern)
}

// tooLong is a request of gemini clients that is longer than max_body.
var tooLong = described{status: 413, body: `{"contents":"` + strings.Repeat("m", 5000) + `"}`}

// The answers of gemini clients match the document, and so does each event of a stream.
func TestDocumentDescribesTheAnswersOfGeminiClients(t *testing.T) {
	google := gatewaytest.NewProvider(t)
	s, _, document := describedSite(t, site.Direct.Provider("google", google, "format gemini", "models of-google"))
	given := make(map[string]bool)
	check := func(method, path string, answer site.Reply) {
		t.Helper()
		assert.Empty(t, document.Check(method, path, answer.Status, []byte(answer.Body)), answer.Body)
		given[fmt.Sprint(method, " ", path, " ", answer.Status)] = true
	}
	const prefix = "/v1beta/models/{model}:"
	refused := slices.DeleteFunc(slices.Clone(refusedAlike), func(r described) bool { return r.status == tooLong.status })
	embeddings := map[string][2]string{ // requests and answers
		"embedContent":       {`{"content":{"parts":[{"text":"a"}]}}`, `{"embedding":{"values":[0.5]}}`},
		"batchEmbedContents": {`{"requests":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"embeddings":[{"values":[0.5]}]}`},
	}
	for _, method := range []string{"generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"} {
		for _, r := range append(slices.Concat(refused, failedAlike), described{status: 503, prompt: "[[fault:503]]"}, tooLong) {
			if method == "countTokens" && r.status >= 429 { // the demo provider counts what it would fail to answer
				google.Script(gatewaytest.Body(r.status, "application/json", []byte(`{"error":{"code":500,"message":"no","status":"INTERNAL"}}`)))
				r = described{status: r.status, model: "of-google", prompt: "hi"}
			}
			vectors, embeds := embeddings[method]
			if failed := `{"error":{"code":500,"message":"no","status":"INTERNAL"}}`; embeds && r.status == http.StatusOK {
				google.Script(gatewaytest.Body(r.status, "application/json", []byte(vectors[1])))
			} else if embeds && r.status >= 429 {
				google.Script(gatewaytest.Body(r.status, "application/json", []byte(failed)))
			}
			target, body := site.Addressed(site.GeminiPath, r.text(site.GeminiPath))
			if embeds && r.prompt != "" {
				r.model = "of-google"
				target, _ = site.Addressed(site.GeminiPath, r.text(site.GeminiPath))
			}
			if embeds && r.body == "" {
				body = vectors[0]
			}
			answer := s.Ask(strings.Replace(target, "generateContent", method, 1)+"?alt=sse", body, r.headers...)
			assert.Equal(t, r.status, answer.Status, "%s %+v: %s", method, r, answer.Body)
			if method != "streamGenerateContent" || answer.Status != http.StatusOK {
				check("POST", prefix+method, answer)
				continue
			}
			given[fmt.Sprint("POST ", prefix, method, " 200")] = true
			assert.True(t, answer.Read(t, site.GeminiPath).Complete, answer.Body)
			for event := range strings.SplitSeq(strings.TrimSpace(answer.Body), "\n\n") {
				data := strings.TrimPrefix(event, "data: ")
				assert.Empty(t, document.Check("POST", prefix+"generateContent", http.StatusOK, []byte(data)), event)
			}
		}
	}
	for path, targets := range map[string][]string{"/v1beta/models": {"", "?pageSize=1", "?pageSize=x"}, "/v1beta/models/{model}": {"/demo-known", "/unheard-of"}} {
		for _, target := range targets {
			for _, key := range []string{site.ClientKey, "wrong", elsewhereKey} {
				check("GET", path, s.List(key, "/v1beta/models"+target))
			}
		}
	}
	const tokens = "/v1beta/auth_tokens"
	check("POST", tokens, s.Ask(tokens, "{}", "Authorization", "Bearer wrong"))
	check("POST", tokens, s.Ask(tokens, "{}"))
	given["POST "+tokens+" 200"] = true // of the tests of WebSockets
	for _, o := range document.Operations("/v1beta/") {
		if isOfGemini(o.Path) {
			continue // of TestDocumentDescribesTheAnswersAboutObjectsOfGeminiClients
		}
		for _, status := range o.Statuses {
			assert.True(t, status == "default" || given[o.Method+" "+o.Path+" "+status], "nothing has given %s %s %s", o.Method, o.Path, status)
		}
	}
}

// besideText are the endpoints beside text, and one that no format translates either.
var besideText = func() (paths []string) {
	for _, e := range formats.Of(translate.Chat).Client.Endpoints {
		if e.Operation.Beside() {
			paths = append(paths, e.Path)
		}
	}
	return append(paths, compactPath)
}()

// bodyBeside returns a request to an endpoint beside text, and its type.
func bodyBeside(path, model string) (body, contentType string) {
	if strings.HasPrefix(path, "/v1/audio/trans") {
		return "--b\r\nContent-Disposition: form-data; name=model\r\n\r\n" + model +
			"\r\n--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b"
	}
	if path == compactPath {
		return fmt.Sprintf(`{"model":%q,"input":"a"}`, model), "application/json"
	}
	return fmt.Sprintf(`{"model":%q,"input":"a","query":"a","documents":[],"prompt":"a","questions":[]}`, model), "application/json"
}

func (r described) text(path string) string {
	if r.body != "" {
		return r.body
	}
	return site.BodyFor(site.Counted(path), cmp.Or(r.model, "demo-known"), r.prompt, false)
}
