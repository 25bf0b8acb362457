package usage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// google is a vendor of the Gemini API with files, uploads in sessions, and batches, as Google is: all
// clients of the account see all of them.
type google struct {
	*httptest.Server

	mu       sync.Mutex
	files    map[string]*googleFile    // by their ids, without the collection
	sessions map[string]*googleSession // by their ids
	batches  map[string]map[string]any // by their ids, without the collection
	last     int
	asked    []string // the method and address of each request, and its body if it is JSON
}

// googleFile is a file at the vendor.
type googleFile struct {
	description, content, kind string
	size                       int64
	generated                  bool // by the vendor, so that it can be downloaded
}

// googleSession is an upload that goes on.
type googleSession struct {
	googleFile
	announced int64
}

// vendorSecret is in the addresses of sessions: whoever has it could use the account.
const vendorSecret = "AIza-secret-of-the-account"

func startGoogle(t testing.TB) *google {
	g := &google{files: make(map[string]*googleFile), sessions: make(map[string]*googleSession), batches: make(map[string]map[string]any)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /upload/v1beta/files", g.upload)
	mux.HandleFunc("GET /v1beta/files", func(http.ResponseWriter, *http.Request) { t.Error("a list has the files of all clients") })
	mux.HandleFunc("GET /v1beta/batches", func(http.ResponseWriter, *http.Request) { t.Error("a list has the batches of all clients") })
	mux.HandleFunc("GET /v1beta/files/{id}", g.readFile)
	mux.HandleFunc("DELETE /v1beta/files/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if g.files[id] == nil {
			refuseGoogle(w, http.StatusForbidden, "You do not have permission to access the File "+id+" or it may not exist.")
			return
		}
		delete(g.files, id)
		answerJSON(w, struct{}{})
	})
	mux.HandleFunc("GET /v1beta/batches/{id}", func(w http.ResponseWriter, r *http.Request) {
		g.withBatch(w, r.PathValue("id"), func(map[string]any) {})
	})
	mux.HandleFunc("DELETE /v1beta/batches/{id}", func(w http.ResponseWriter, r *http.Request) {
		if g.batches[r.PathValue("id")] == nil {
			g.withBatch(w, r.PathValue("id"), nil)
			return
		}
		delete(g.batches, r.PathValue("id"))
		answerJSON(w, struct{}{})
	})
	mux.HandleFunc("POST /v1beta/batches/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, cancels := strings.CutSuffix(r.PathValue("id"), ":cancel")
		if !cancels || g.batches[id] == nil {
			g.withBatch(w, id, nil)
			return
		}
		g.batches[id]["metadata"].(map[string]any)["state"] = "BATCH_STATE_CANCELLED"
		answerJSON(w, struct{}{})
	})
	mux.HandleFunc("POST /v1beta/models/{method}", g.callModel)
	mux.HandleFunc("GET /end", func(_ http.ResponseWriter, r *http.Request) { // of a suite in another language
		g.end("BATCH_STATE_SUCCEEDED", r.URL.Query().Has("file"), generated(2))
	})
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.URL.RequestURI()
		if r.Header.Get("Content-Type") == "application/json" {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			line += " " + string(body)
		}
		g.mu.Lock()
		g.asked = append(g.asked, line)
		if r.Method == http.MethodGet && r.URL.Path != "/end" || r.Method != http.MethodGet && r.ContentLength == 0 || line != r.Method+" "+r.URL.RequestURI() {
			defer g.mu.Unlock() // those that send a file are locked behind its end
		} else {
			g.mu.Unlock()
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// session returns the id of the last session, which no other vendor of a test has.
func (g *google) session() string {
	return fmt.Sprintf("ABPtcPo%s%0110d", strings.TrimPrefix(g.URL, "http://127.0.0.1:"), g.last)
}

func refuseGoogle(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	word := map[int]string{400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}[status]
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message, "status": word}})
}

// upload serves the requests of uploads.
func (g *google) upload(w http.ResponseWriter, r *http.Request) {
	command := strings.ReplaceAll(r.Header.Get("X-Goog-Upload-Command"), " ", "")
	switch id := r.URL.Query().Get("upload_id"); {
	case r.Header.Get("X-Goog-Upload-Protocol") == "multipart":
		g.uploadWhole(w, r)
	case id != "":
		g.uploadPiece(w, r, id, command)
	case r.Header.Get("X-Goog-Upload-Protocol") == "resumable" && command == "start":
		announced, err := strconv.ParseInt(r.Header.Get("X-Goog-Upload-Header-Content-Length"), 10, 64)
		body, _ := io.ReadAll(r.Body)
		if err != nil {
			refuseGoogle(w, http.StatusBadRequest, "The length is missing.")
			return
		}
		g.last++
		id := g.session()
		g.sessions[id] = &googleSession{googleFile{description: string(body), kind: r.Header.Get("X-Goog-Upload-Header-Content-Type")}, announced}
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Goog-Upload-Status", "active")
		h.Set("X-Goog-Upload-Chunk-Granularity", "8388608")
		h.Set("X-Goog-Upload-Control-Url", g.URL+"/upload/v1beta/files?key="+vendorSecret)
		h.Set("X-Goog-Upload-Url", g.URL+"/upload/v1beta/files?key="+vendorSecret+"&upload_id="+id+"&upload_protocol=resumable")
	default:
		refuseGoogle(w, http.StatusBadRequest, "Invalid protocol of an upload.")
	}
}

// uploadPiece takes bytes of a file.
func (g *google) uploadPiece(w http.ResponseWriter, r *http.Request, id, command string) {
	var beginning bytes.Buffer
	size, err := io.Copy(&beginning, io.LimitReader(r.Body, 1<<20))
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, r.Body)
		size += rest
	}
	if r.ContentLength != 0 {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	s := g.sessions[id]
	switch {
	case err != nil:
		return // cut off
	case s == nil:
		refuseGoogle(w, http.StatusNotFound, "Upload "+id+" not found.")
		return
	case command == "query":
		w.Header().Set("X-Goog-Upload-Status", "active")
		w.Header().Set("X-Goog-Upload-Size-Received", strconv.FormatInt(s.size, 10))
		return
	case command == "cancel":
		delete(g.sessions, id)
		w.Header().Set("X-Goog-Upload-Status", "cancelled")
		return
	case r.Header.Get("X-Goog-Upload-Offset") != strconv.FormatInt(s.size, 10):
		refuseGoogle(w, http.StatusBadRequest, "Wrong offset: "+r.Header.Get("X-Goog-Upload-Offset"))
		return
	}
	s.size, s.content = s.size+size, s.content+beginning.String()
	if command == "upload" {
		w.Header().Set("X-Goog-Upload-Status", "active")
		return
	}
	if s.size != s.announced {
		refuseGoogle(w, http.StatusBadRequest, "Wrong length.")
		return
	}
	delete(g.sessions, id)
	w.Header().Set("X-Goog-Upload-Status", "final")
	answerJSON(w, map[string]any{"file": g.keep(&s.googleFile)})
}

// uploadWhole takes a file behind its description.
func (g *google) uploadWhole(w http.ResponseWriter, r *http.Request) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	parts := multipart.NewReader(r.Body, parameters["boundary"])
	var texts []string
	file := new(googleFile)
	for err == nil && kind == "multipart/related" {
		var part *multipart.Part
		if part, err = parts.NextRawPart(); err == nil {
			var text []byte
			text, err = io.ReadAll(part)
			texts, file.kind = append(texts, string(text)), part.Header.Get("Content-Type")
		}
	}
	//lint:ignore errorlint what wraps it is a form that is cut off
	if err != io.EOF || len(texts) != 2 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	file.description, file.content, file.size = texts[0], texts[1], int64(len(texts[1]))
	w.Header().Set("X-Goog-Upload-Status", "final")
	answerJSON(w, map[string]any{"file": g.keep(file)})
}

// keep stores a file, and returns how the vendor shows it. The caller holds mu.
func (g *google) keep(file *googleFile) map[string]any {
	g.last++
	id := rawGoogle(g.last)
	g.files[id] = file
	return g.shown(id)
}

// rawGoogle returns the id of the vendor of its n-th object, without the collection.
func rawGoogle(n int) string { return fmt.Sprintf("g%011d", n) }

func (g *google) shown(id string) map[string]any {
	file := g.files[id]
	shown := map[string]any{
		"name": "files/" + id, "mimeType": file.kind, "sizeBytes": strconv.FormatInt(file.size, 10), "uri": g.URL + "/v1beta/files/" + id,
		"state": "ACTIVE", "source": "UPLOADED", "createTime": "2026-11-30T01:00:00Z", "expirationTime": "2026-12-02T01:00:00Z",
	}
	if file.generated {
		shown["source"], shown["downloadUri"] = "GENERATED", g.URL+"/v1beta/files/"+id+":download?alt=media"
	}
	return shown
}

func (g *google) readFile(w http.ResponseWriter, r *http.Request) {
	id, downloads := strings.CutSuffix(r.PathValue("id"), ":download")
	switch file := g.files[id]; {
	case file == nil:
		refuseGoogle(w, http.StatusForbidden, "You do not have permission to access the File "+id+" or it may not exist.")
	case downloads && (!file.generated || r.URL.RawQuery != "alt=media"):
		refuseGoogle(w, http.StatusBadRequest, "Only generated files can be downloaded.")
	case downloads:
		w.Header().Set("Content-Type", "application/json-l")
		_, _ = io.WriteString(w, file.content)
	default:
		answerJSON(w, g.shown(id))
	}
}

// callModel serves the methods of models.
func (g *google) callModel(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("method"), ":")
	var body struct {
		Contents []struct {
			Parts []struct{ FileData *struct{ FileURI string } }
		}
		Batch map[string]any
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuseGoogle(w, http.StatusBadRequest, err.Error())
		return
	}
	switch method {
	case "generateContent":
		for _, part := range body.Contents[0].Parts {
			if part.FileData != nil && g.files[strings.TrimPrefix(part.FileData.FileURI, g.URL+"/v1beta/files/")] == nil {
				refuseGoogle(w, http.StatusForbidden, "You do not have permission to access the file "+part.FileData.FileURI)
				return
			}
		}
		answerJSON(w, json.RawMessage(answerOf(model, 1)))
	case "batchGenerateContent", "asyncBatchEmbedContent":
		g.createBatch(w, model, method, body.Batch)
	}
}

// createBatch creates a batch.
func (g *google) createBatch(w http.ResponseWriter, model, method string, batch map[string]any) {
	input, _ := batch["inputConfig"].(map[string]any)
	if input == nil {
		input, _ = batch["input_config"].(map[string]any)
	}
	g.last++
	id := rawGoogle(g.last)
	metadata := map[string]any{
		"@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", "model": "models/" + model,
		"displayName": batch["displayName"], "name": "batches/" + id, "state": "BATCH_STATE_PENDING", "batchStats": map[string]any{"requestCount": "1", "pendingRequestCount": "1"},
	}
	if name, _ := input["fileName"].(string); name != "" {
		if g.files[strings.TrimPrefix(name, "files/")] == nil {
			refuseGoogle(w, http.StatusNotFound, "File "+name+" not found.")
			return
		}
		metadata["inputConfig"] = map[string]any{"fileName": name}
	}
	g.batches[id] = map[string]any{"name": "batches/" + id, "metadata": metadata}
	if method != "batchGenerateContent" {
		metadata["@type"] = "type.googleapis.com/google.ai.generativelanguage.v1main.EmbedContentBatch"
	}
	answerJSON(w, g.batches[id])
}

// withBatch answers with a batch after a change.
func (g *google) withBatch(w http.ResponseWriter, id string, change func(batch map[string]any)) {
	if g.batches[id] == nil {
		refuseGoogle(w, http.StatusNotFound, "Requested entity batches/"+id+" was not found.")
		return
	}
	change(g.batches[id])
	answerJSON(w, g.batches[id])
}

// end ends the last batch in a state, with results in itself, or in a file.
func (g *google) end(state string, inFile bool, results ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	batch := g.batches[rawGoogle(g.last)]
	metadata := batch["metadata"].(map[string]any)
	succeeded := len(slices.DeleteFunc(slices.Clone(results), func(r string) bool { return strings.Contains(r, `"error"`) }))
	metadata["state"], batch["done"] = state, true
	metadata["batchStats"] = map[string]any{"requestCount": strconv.Itoa(len(results)), "successfulRequestCount": strconv.Itoa(succeeded), "failedRequestCount": strconv.Itoa(len(results) - succeeded)}
	switch {
	case len(results) == 0:
	case inFile:
		g.last++
		id := "batch-" + rawGoogle(g.last)
		g.files[id] = &googleFile{content: strings.Join(results, "\n") + "\n", generated: true}
		metadata["output"] = map[string]any{"responsesFile": "files/" + id}
		batch["response"] = metadata["output"]
	default:
		list := "inlinedResponses"
		if strings.Contains(results[0], `"embedding"`) {
			list = "inlinedEmbedContentResponses"
		}
		metadata["output"] = map[string]any{list: map[string]any{"inlinedResponses": json.RawMessage("[" + strings.Join(results, ",") + "]")}}
		batch["response"] = metadata["output"]
	}
}

// answerOf is an answer of so many tokens.
func answerOf(model string, output int) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":"%s","responseId":"r1"}`, output, output+5, model)
}

// generated is a result of a batch with an answer of so many tokens.
func generated(output int) string {
	return `{"key":"r","response":` + answerOf("m", output) + `,"metadata":{"key":"r"}}`
}

// failedResult is a result of a batch without an answer.
const failedResult = `{"key":"r","error":{"code":3,"message":"no"}}`

// requests returns the requests so far.
func (g *google) requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

// stored returns a file of the vendor.
func (g *google) stored(n int) googleFile {
	g.mu.Lock()
	defer g.mu.Unlock()
	if file := g.files[rawGoogle(n)]; file != nil {
		return *file
	}
	return googleFile{}
}

// forget makes the vendor take the pieces of all uploads from the first byte again, as one does that has lost them.
func (g *google) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		s.size, s.content = 0, ""
	}
}
