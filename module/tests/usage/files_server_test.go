package usage_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// filing is a vendor of the chat format that stores files, as OpenAI does: all clients of the account see
// all of them.
type filing struct {
	*httptest.Server

	mu    sync.Mutex
	files map[string]*vendorFile
	last  int
	batch map[string]any // the last one that was created
	asked []string       // the method and path of each request, and the body of those with JSON
}

// vendorFile is a file at the vendor.
type vendorFile struct {
	form    map[string]string // the texts beside the file
	name    string
	content string // of a file of less than 1 MiB
	size    int64
}

const (
	filesPath   = "/v1/files"
	uploadsPath = "/v1/uploads"
)

func startFiling(t testing.TB) *filing {
	f := &filing{files: make(map[string]*vendorFile)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/files", func(w http.ResponseWriter, r *http.Request) {
		file, err := readForm(r, "file")
		if err != nil {
			refuseJSON(w, http.StatusBadRequest, err.Error())
			return
		}
		f.write(w, f.keep(file))
	})
	mux.HandleFunc("GET /v1/files", func(http.ResponseWriter, *http.Request) { t.Error("a list has the files of all clients") })
	mux.HandleFunc("GET /v1/files/{id}", f.withFile(func(w http.ResponseWriter, id string) { f.write(w, id) }))
	mux.HandleFunc("GET /v1/files/{id}/content", f.withFile(func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "text/event-stream") // of a file that is one
		_, _ = io.WriteString(w, f.stored()[id].content)
	}))
	mux.HandleFunc("DELETE /v1/files/{id}", f.withFile(func(w http.ResponseWriter, id string) {
		delete(f.files, id)
		answerJSON(w, map[string]any{"id": id, "object": "file", "deleted": true})
	}))
	mux.HandleFunc("POST /v1/uploads", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, map[string]any{"id": rawUpload, "object": "upload", "status": "pending"})
	})
	mux.HandleFunc("POST /v1/uploads/"+rawUpload+"/parts", func(w http.ResponseWriter, r *http.Request) {
		part, err := readForm(r, "data")
		if err != nil {
			refuseJSON(w, http.StatusBadRequest, err.Error())
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.files["part_1"] = part
		answerJSON(w, map[string]any{"id": "part_1", "object": "upload.part", "upload_id": rawUpload})
	})
	mux.HandleFunc("POST /v1/uploads/"+rawUpload+"/complete", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		part := f.files["part_1"]
		f.mu.Unlock()
		id := f.keep(part)
		answerJSON(w, map[string]any{"id": rawUpload, "object": "upload", "status": "completed", "file": f.shown(id)})
	})
	mux.HandleFunc("POST /v1/uploads/"+rawUpload+"/cancel", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, map[string]any{"id": rawUpload, "object": "upload", "status": "cancelled"})
	})
	mux.HandleFunc("POST /v1/batches", func(w http.ResponseWriter, r *http.Request) {
		var created map[string]any
		_ = json.NewDecoder(r.Body).Decode(&created)
		f.mu.Lock()
		defer f.mu.Unlock()
		if id, _ := created["input_file_id"].(string); f.files[id] == nil || f.files[id].form["purpose"] != "batch" {
			refuseJSON(w, http.StatusBadRequest, "Invalid file: "+id)
			return
		}
		f.last++
		f.batch = map[string]any{
			"id": rawBatchOf(f.last), "object": "batch", "endpoint": created["endpoint"], "input_file_id": created["input_file_id"], "status": "validating",
			"output_file_id": nil, "error_file_id": nil, "request_counts": map[string]any{"total": 0, "completed": 0, "failed": 0}, "metadata": created["metadata"],
		}
		answerJSON(w, f.batch)
	})
	ofBatch := func(change func()) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.batch["id"] != r.PathValue("id") {
				refuseJSON(w, http.StatusNotFound, "No batch found with id '"+r.PathValue("id")+"'.")
				return
			}
			change()
			answerJSON(w, f.batch)
		}
	}
	mux.HandleFunc("GET /v1/batches/{id}", ofBatch(func() {}))
	mux.HandleFunc("POST /v1/batches/{id}/cancel", ofBatch(func() { f.batch["status"] = "cancelling" }))
	mux.HandleFunc("GET /end", func(http.ResponseWriter, *http.Request) { // of a suite in another language
		f.end("completed", [3]int{1, 1, 0}, resultLine("m", 2))
	})
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.URL.RequestURI()
		if r.Header.Get("Content-Type") == "application/json" {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			line += " " + string(body)
		}
		f.mu.Lock()
		f.asked = append(f.asked, line)
		f.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// rawUpload is the only upload of the vendor.
const rawUpload = "upload_000000000000000000000001"

// rawFile returns the id of the vendor of the n-th file.
func rawFile(n int) string { return fmt.Sprintf("file-%022d", n) }

// rawBatchOf returns the id of the vendor of a batch.
func rawBatchOf(n int) string { return fmt.Sprintf("batch_%022d", n) }

// end ends the last batch in a status, with numbers of all requests, of the completed and of the failed
// ones, and with lines of results in a file, if there are any.
func (f *filing) end(status string, counts [3]int, lines ...string) (output string) {
	if lines != nil {
		output = f.keep(&vendorFile{content: strings.Join(lines, "\n") + "\n"})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batch["status"] = status
	f.batch["request_counts"] = map[string]any{"total": counts[0], "completed": counts[1], "failed": counts[2]}
	if output != "" {
		f.batch["output_file_id"] = output
	}
	if counts[2] > 0 {
		f.batch["error_file_id"] = "file-e" + strings.Repeat("0", 21)
	}
	return output
}

// rewrite replaces the content of a file.
func (f *filing) rewrite(id, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[id] = &vendorFile{content: content}
}

// resultLine is a line of results with an answer of chat of so many tokens.
func resultLine(model string, output int) string {
	return fmt.Sprintf(`{"id":"batch_req_1","custom_id":"r","response":{"status_code":200,"request_id":"x","body":{"id":"chatcmpl-1","object":"chat.completion","model":"%s","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":%d,"total_tokens":%d}}},"error":null}`, model, output, output+5)
}

// readForm reads a form with a file to its end.
func readForm(r *http.Request, name string) (*vendorFile, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	file := &vendorFile{form: make(map[string]string)}
	for {
		part, end := parts.NextRawPart()
		switch {
		case end == io.EOF: // and nothing that wraps it: a form that is cut off
			return file, nil
		case end != nil:
			return nil, end
		}
		beginning, err := io.ReadAll(io.LimitReader(part, 1<<20))
		if err != nil {
			return nil, err
		}
		rest, err := io.Copy(io.Discard, part)
		if err != nil {
			return nil, err
		}
		if part.FormName() != name {
			file.form[part.FormName()] = string(beginning)
			continue
		}
		file.name, file.content, file.size = part.FileName()+" "+part.Header.Get("Content-Type"), string(beginning), int64(len(beginning))+rest
	}
}

// keep stores a file, and returns its id.
func (f *filing) keep(file *vendorFile) (id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	id = rawFile(f.last)
	f.files[id] = file
	return id
}

// withFile calls serve for a file that exists.
func (f *filing) withFile(serve func(w http.ResponseWriter, id string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		f.mu.Lock()
		known := f.files[id] != nil
		f.mu.Unlock()
		if !known {
			refuseJSON(w, http.StatusNotFound, "No such File object: "+id)
			return
		}
		serve(w, id)
	}
}

// write writes the object of a file.
func (f *filing) write(w http.ResponseWriter, id string) { answerJSON(w, f.shown(id)) }

func (f *filing) shown(id string) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.files[id]
	return map[string]any{"id": id, "object": "file", "bytes": file.size, "created_at": 1790000000, "filename": file.name, "purpose": file.form["purpose"], "status": "processed"}
}

func refuseJSON(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
}

// requests returns the requests so far.
func (f *filing) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// stored returns the files of the vendor by their ids.
func (f *filing) stored() map[string]vendorFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make(map[string]vendorFile)
	for id, file := range maps.All(f.files) {
		all[id] = *file
	}
	return all
}
