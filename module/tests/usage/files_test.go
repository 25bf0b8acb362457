package usage_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// filer is a client of a gateway in front of the vendor of files.
type filer struct {
	*filing
	testing.TB
	address string
}

// startFiler starts a site with the vendor, which stores files, and with the keys alice and bob.
func startFiler(t testing.TB, w site.Way, lines ...string) filer {
	site.SetKeys(t)
	f := startFiling(t)
	s := site.Start(t, append([]string{
		w.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), "format chat responses", "files_state sealed", "batches sealed", "models m"),
		"key alice {env.KEY_ALICE}", "key bob {env.KEY_BOB}",
	}, lines...)...)
	return filer{f, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
}

// ask sends a request with a key.
func (f filer) ask(key, method, path string, body io.Reader, contentType string) site.Reply {
	f.Helper()
	request, err := http.NewRequestWithContext(site.Waiting(f), method, "http://"+f.address+path, body)
	require.NoError(f, err)
	request.Header.Set("Authorization", "Bearer "+key)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(f, err)
	return site.ReadReply(response)
}

// read sends a request without a body.
func (f filer) read(key, method, path string) site.Reply {
	f.Helper()
	return f.ask(key, method, path, nil, "")
}

// formPart is a part of a form: a text, or a file if it has a filename.
type formPart struct{ name, filename, content string }

// formOf returns the parts as a form, and its type.
func formOf(parts ...formPart) (io.Reader, string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, p := range parts {
		create := form.CreateFormField
		if p.filename != "" {
			create = func(name string) (io.Writer, error) { return form.CreateFormFile(name, p.filename) }
		}
		w, _ := create(p.name)
		_, _ = io.WriteString(w, p.content)
	}
	_ = form.Close()
	return &body, form.FormDataContentType()
}

// upload sends a form.
func (f filer) upload(key, path string, parts ...formPart) site.Reply {
	f.Helper()
	body, contentType := formOf(parts...)
	return f.ask(key, http.MethodPost, path, body, contentType)
}

// file is a part with a file.
func file(content string) formPart { return formPart{"file", "a.txt", content} }

// purpose is the text that states what a file is for.
func purpose(text string) formPart { return formPart{"purpose", "", text} }

// idIn returns the id of an object in an answer.
func idIn(t testing.TB, r site.Reply) string {
	t.Helper()
	var o struct{ ID string }
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	require.NoError(t, json.Unmarshal([]byte(r.Body), &o))
	return o.ID
}

var rawIDs = regexp.MustCompile(`0{20}`)

// Clients needed the key of the vendor to store a file, with which they read the files of all.
func TestFilesAreStoredForTheirClients(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		f := startFiler(t, w)
		created := f.upload(site.AliceKey, filesPath,
			purpose("user_data"), formPart{"expires_after[anchor]", "", "created_at"}, formPart{"expires_after[seconds]", "", "3600"}, formPart{"file", `a "b" ü.txt`, "data: x\n\n"})
		id := idIn(t, created)
		assert.Regexp(t, `^file-1[\w-]+$`, id)
		assert.Less(t, len(id), 256)
		assert.NotRegexp(t, rawIDs, created.Body)
		assert.Equal(t, map[string]vendorFile{rawFile(1): {
			form: map[string]string{"purpose": "user_data", "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"},
			name: `a "b" ü.txt application/octet-stream`, content: "data: x\n\n", size: 9,
		}}, f.stored())
		path := filesPath + "/" + id
		assert.Equal(t, id, idIn(t, f.read(site.AliceKey, http.MethodGet, path)))
		content := f.read(site.AliceKey, http.MethodGet, path+"/content")
		assert.Equal(t, "data: x\n\n", content.Body)
		assert.Equal(t, "text/event-stream", content.Header.Get("Content-Type"))
		deleted := f.read(site.AliceKey, http.MethodDelete, path)
		assert.JSONEq(t, `{"id":"`+id+`","object":"file","deleted":true}`, deleted.Body)
		gone := f.read(site.AliceKey, http.MethodGet, path)
		assert.Equal(t, http.StatusNotFound, gone.Status)
		assert.Contains(t, gone.Body, id)
		assert.NotRegexp(t, rawIDs, gone.Body)
		assert.Equal(t, []string{
			"POST /v1/files", "GET /v1/files/" + rawFile(1), "GET /v1/files/" + rawFile(1) + "/content", "DELETE /v1/files/" + rawFile(1), "GET /v1/files/" + rawFile(1),
		}, f.requests())
	})
}

// A file of several parts is as much that of its client as another one.
func TestUploadsOfSeveralPartsAreStored(t *testing.T) {
	f := startFiler(t, site.Proxied)
	json := func(key, path, body string) site.Reply {
		return f.ask(key, http.MethodPost, path, strings.NewReader(body), "application/json")
	}
	id := idIn(t, json(site.AliceKey, uploadsPath, `{"filename":"a.txt","purpose":"user_data","bytes":3,"mime_type":"text/plain","expires_after":{"anchor":"created_at","seconds":3600}}`))
	assert.Regexp(t, `^upload_1[\w-]+$`, id)
	path := uploadsPath + "/" + id
	added := f.upload(site.AliceKey, path+"/parts", formPart{"data", "blob", "abc"})
	assert.JSONEq(t, `{"id":"part_1","object":"upload.part","upload_id":"`+id+`"}`, added.Body)
	assert.Equal(t, http.StatusNotFound, f.upload(site.BobKey, path+"/parts", formPart{"data", "blob", "abc"}).Status)
	completed := json(site.AliceKey, path+"/complete", `{"part_ids":["part_1"]}`)
	require.Equal(t, http.StatusOK, completed.Status, completed.Body)
	assert.NotRegexp(t, rawIDs, completed.Body)
	stored := regexp.MustCompile(`file-1[\w-]+`).FindString(completed.Body)
	assert.Equal(t, "abc", f.read(site.AliceKey, http.MethodGet, filesPath+"/"+stored+"/content").Body)
	assert.Equal(t, id, idIn(t, json(site.AliceKey, path+"/cancel", "")))
	for body, want := range map[string]string{
		`{"purpose":"batch"}`:                         "purpose: must not be 'batch'",
		`{"purpose":"user_data","PURPOSE":"batch"}`:   "purpose",
		`{"purpose":"user_data","purpose":"batch"}`:   "purpose",
		`{"purpose":"user_data","bytes":"many"}`:      "bytes: must be an integer",
		`{"purpose":7}`:                               "purpose: must be a string",
		`[]`:                                          "must be a JSON object",
		`{"purpose":"\u0062atch","filename":"a.txt"}`: "purpose: must not be 'batch'",
	} {
		refused := json(site.AliceKey, uploadsPath, body)
		assert.Equal(t, http.StatusBadRequest, refused.Status, body)
		assert.Contains(t, refused.Body, want, body)
	}
}

// In other gateways, who knew the id of a file could read it, with any key.
func TestAFileIsThatOfItsClientAlone(t *testing.T) {
	f := startFiler(t, site.Direct)
	id := idIn(t, f.upload(site.AliceKey, filesPath, purpose("user_data"), file("secret")))
	before := len(f.requests())
	for name, try := range map[string][2]string{
		"of another key":       {site.BobKey, id},
		"the id of the vendor": {site.AliceKey, rawFile(1)},
		"changed":              {site.AliceKey, id[:len(id)-1] + string(id[len(id)-1]^1)},
		"of another kind":      {site.AliceKey, "upload_" + strings.TrimPrefix(id, "file-")},
		"long":                 {site.AliceKey, "file-1" + strings.Repeat("A", 5000)},
	} {
		for _, request := range []string{"GET ", "DELETE ", "GET /content"} {
			method, below, _ := strings.Cut(request, " ")
			refused := f.read(try[0], method, filesPath+"/"+try[1]+below)
			assert.Equal(t, http.StatusNotFound, refused.Status, "%s, %s: %s", name, request, refused.Body)
			assert.Contains(t, refused.Body, "not found", name)
		}
	}
	list := f.read(site.AliceKey, http.MethodGet, filesPath)
	assert.Equal(t, http.StatusNotFound, list.Status)
	assert.Equal(t, "path: this gateway lists no files, since the provider's list has those of all clients", list.Failure(t).Message)
	assert.Len(t, f.requests(), before, "nothing is sent")
}

// Servers differ in how they read odd forms, so that one reads what another has not checked: the provider
// gets a form of the gateway's own.
func TestFormsAreWrittenAnew(t *testing.T) {
	f := startFiler(t, site.Direct, "max_upload 64KiB")
	for name, c := range map[string]struct {
		parts   []formPart
		message string
		status  int
	}{
		"another part":       {[]formPart{file("a"), {"model", "", "m"}}, "model: is not known at this path", 400},
		"upper case":         {[]formPart{{"Purpose", "", "batch"}, file("a")}, "Purpose: is not known at this path", 400},
		"brackets":           {[]formPart{{"purpose[]", "", "batch"}, file("a")}, "purpose[]: is not known at this path", 400},
		"two purposes":       {[]formPart{purpose("a"), file("a"), purpose("batch")}, "purpose: must be sent once", 400},
		"two files":          {[]formPart{file("a"), file("a")}, "file: must be sent once", 400},
		"a file as a text":   {[]formPart{{"file", "", "a"}}, "file: must be a file, with a filename", 400},
		"a text as a file":   {[]formPart{{"purpose", "b.txt", "batch"}, file("a")}, "purpose: must be a text", 400},
		"a long text":        {[]formPart{purpose(strings.Repeat("a", 5000)), file("a")}, "purpose: must be a text in UTF-8 of at most 4096 bytes", 400},
		"no text":            {[]formPart{purpose("\xff"), file("a")}, "purpose: must be a text in UTF-8 of at most 4096 bytes", 400},
		"no file":            {[]formPart{purpose("a")}, "file: required", 400},
		"no parts":           {nil, "file: required", 400},
		"a file that is big": {[]formPart{file(strings.Repeat("a", 64<<10))}, "request body: larger than the limit of 65536 bytes", 413},
	} {
		refused := f.upload(site.AliceKey, filesPath, c.parts...)
		assert.Equal(t, c.status, refused.Status, "%s: %s", name, refused.Body)
		assert.Equal(t, c.message, refused.Failure(t).Message, name)
	}
	body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc"
	for contentType, want := range map[string]int{
		"multipart/form-data; boundary=b": 400, "multipart/form-data": 415, "multipart/mixed; boundary=b": 415, "text/plain": 415, "application/json": 415, "": 415,
	} {
		refused := f.ask(site.AliceKey, http.MethodPost, filesPath, strings.NewReader(body), contentType)
		assert.Equal(t, want, refused.Status, "%s: %s", contentType, refused.Body)
	}
	unknown := f.ask(site.AliceKey, http.MethodPost, filesPath, io.MultiReader(strings.NewReader(body), io.LimitReader(zeros{}, 1<<20)), "multipart/form-data; boundary=b")
	assert.Equal(t, http.StatusRequestEntityTooLarge, unknown.Status, "its length is not announced")
	assert.Empty(t, f.stored())
	// A preamble, a delimiter in another part's text, and what is behind the end are no parts.
	odd := "purpose=batch\r\n--b \r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../a\"\r\nContent-Type: text/plain; x=\"\r\n\r\n--c\r\n\r\n--b--\r\n--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b--"
	idIn(t, f.ask(site.AliceKey, http.MethodPost, filesPath, strings.NewReader(odd), "multipart/form-data; boundary=b"))
	assert.Equal(t, map[string]vendorFile{rawFile(1): {form: map[string]string{}, name: "a application/octet-stream", content: "--c\r\n", size: 5}}, f.stored())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Other gateways hold a file in memory until they have all of it.
func TestX048AnUploadIsNotKept(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const size = 200 << 20
		f := startFiler(t, w)
		head := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		created := f.ask(site.AliceKey, http.MethodPost, filesPath,
			io.MultiReader(strings.NewReader(head), io.LimitReader(zeros{}, size), strings.NewReader("\r\n--b--")), "multipart/form-data; boundary=b")
		runtime.ReadMemStats(&after)
		idIn(t, created)
		assert.EqualValues(t, size, f.stored()[rawFile(1)].size)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), "of provider, gateway and client together")
	})
}

// A guard that could not read a file let it pass.
func TestAFileThatAGuardCannotCheckIsRefused(t *testing.T) {
	f := startFiler(t, site.Direct, "guard words regex {\nblock email\n}")
	refused := f.upload(site.AliceKey, filesPath, file("a@example.com"))
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, "this key may not store files: the guard 'words' cannot check them", refused.Failure(t).Message)
	assert.Empty(t, f.requests())
}

// Without a provider that stores files, their paths are not served.
func TestFilesAreOffByDefault(t *testing.T) {
	site.SetKeys(t)
	f := startFiling(t)
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), "format chat", "models m"),
		site.Direct.ProviderAt("q", strings.TrimPrefix(f.URL, "http://"), "format messages", "files_state sealed", "models n"))
	for _, request := range []string{"POST /files", "GET /files", "GET /files/file-1", "DELETE /files/file-1", "GET /files/file-1/content", "POST /uploads", "POST /uploads/upload_1/parts"} {
		method, below, _ := strings.Cut(request, " ")
		refused := s.Call(method, s.URL("site", "/v1"+below), "", "Authorization", "Bearer "+site.ClientKey)
		assert.Equal(t, http.StatusNotFound, refused.Status, request)
		assert.Contains(t, refused.Body, "the gateway does not serve /v1/", request)
	}
	assert.Empty(t, f.requests())
}
