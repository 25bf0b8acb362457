package usage_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// googler is a client of a gateway in front of the vendor of the Gemini API.
type googler struct {
	*google
	testing.TB
	address string
}

// startGoogler starts a site with the vendor, which stores files, and with the keys alice and bob.
func startGoogler(t testing.TB, w site.Way, lines ...string) googler {
	site.SetKeys(t)
	g := startGoogle(t)
	s := site.Start(t, append([]string{
		w.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), "format gemini", "files_state sealed", "batches sealed", "models m"),
		"key alice {env.KEY_ALICE}", "key bob {env.KEY_BOB}",
	}, lines...)...)
	return googler{g, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
}

// ask sends a request with a key; headers are names and values in turn.
func (g googler) ask(key, method, path string, body io.Reader, headers ...string) site.Reply {
	g.Helper()
	request, err := http.NewRequestWithContext(site.Waiting(g), method, "http://"+g.address+path, body)
	require.NoError(g, err)
	request.Header.Set("X-Goog-Api-Key", key)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(g, err)
	return site.ReadReply(response)
}

func (g googler) post(key, path, body string, headers ...string) site.Reply {
	g.Helper()
	return g.ask(key, http.MethodPost, path, strings.NewReader(body), append([]string{"Content-Type", "application/json"}, headers...)...)
}

func (g googler) read(key, method, path string) site.Reply {
	g.Helper()
	return g.ask(key, method, path, nil)
}

const uploadsOfGoogle = "/upload/v1beta/files"

// start begins an upload of so many bytes, and returns the path of its session.
func (g googler) start(key, path string, size int) (session string) {
	g.Helper()
	started := g.post(key, path, `{"file":{"displayName":"a"}}`, "X-Goog-Upload-Protocol", "resumable", "X-Goog-Upload-Command", "start",
		"X-Goog-Upload-Header-Content-Length", strconv.Itoa(size), "X-Goog-Upload-Header-Content-Type", "text/plain")
	require.Equal(g, http.StatusOK, started.Status, started.Body)
	assert.Empty(g, started.Body)
	assert.Equal(g, "active", started.Header.Get("X-Goog-Upload-Status"))
	assert.Empty(g, started.Header.Get("X-Goog-Upload-Control-Url"))
	at, err := url.Parse(started.Header.Get("X-Goog-Upload-Url"))
	require.NoError(g, err)
	assert.Equal(g, g.address, at.Host, "the address of the site, which has no other name")
	assert.NotContains(g, at.String(), vendorSecret)
	assert.NotContains(g, at.String(), "00000000")
	return at.RequestURI()
}

// piece sends bytes of a file.
func (g googler) piece(key, session, command string, offset int, content string) site.Reply {
	g.Helper()
	return g.ask(key, http.MethodPost, session, strings.NewReader(content), "X-Goog-Upload-Command", command, "X-Goog-Upload-Offset", strconv.Itoa(offset))
}

// shownFile is what clients read of a file.
type shownFile struct{ Name, URI, MimeType, SizeBytes, DownloadURI string }

// fileOf returns the file of an answer, which may be in an object.
func fileOf(t testing.TB, r site.Reply) (f shownFile) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	assert.NotRegexp(t, rawGoogles, r.Body)
	var outer struct{ File *shownFile }
	require.NoError(t, json.Unmarshal([]byte(r.Body), &outer), r.Body)
	if outer.File != nil {
		return *outer.File
	}
	require.NoError(t, json.Unmarshal([]byte(r.Body), &f), r.Body)
	return f
}

var rawGoogles = regexp.MustCompile(`g0{7}`)

// store uploads a file, and returns it.
func (g googler) store(key, content string) shownFile {
	g.Helper()
	return fileOf(g, g.piece(key, g.start(key, uploadsOfGoogle, len(content)), "upload, finalize", 0, content))
}

// Clients needed the key of the vendor to store a file, with which they read the files of all: the address
// of an upload is one of the vendor, and has that key in it.
func TestX181FilesOfGeminiClientsAreStored(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, version := range []string{"/v1beta", "/v1"} {
			t.Run(version, func(t *testing.T) {
				g := startGoogler(t, w)
				session := g.start(site.AliceKey, "/upload"+version+"/files", 6)
				assert.Equal(t, "0", g.piece(site.AliceKey, session, "query", 0, "").Header.Get("X-Goog-Upload-Size-Received"))
				half := g.piece(site.AliceKey, session, "upload", 0, "abc")
				assert.Equal(t, [3]string{"200", "active", ""}, [3]string{strconv.Itoa(half.Status), half.Header.Get("X-Goog-Upload-Status"), half.Body})
				final := g.piece(site.AliceKey, session, "upload, finalize", 3, "def")
				assert.Equal(t, "final", final.Header.Get("X-Goog-Upload-Status"))
				file := fileOf(t, final)
				assert.Equal(t, googleFile{`{"file":{"displayName":"a"}}`, "abcdef", "text/plain", 6, false}, g.stored(2))
				assert.Regexp(t, `^files/1[0-9a-v]+$`, file.Name)
				assert.Less(t, len(file.Name), 256)
				assert.Regexp(t, `^files/1[0-9a-v]+$`, file.URI, "no address, since this gateway knows none with TLS")
				path := version + "/" + file.Name
				assert.Equal(t, file, fileOf(t, g.read(site.AliceKey, http.MethodGet, path)), "the same names each time")
				assert.Equal(t, file, fileOf(t, g.read(site.AliceKey, http.MethodGet, version+"/"+file.URI)), "clients take the name out of the address")
				assert.Equal(t, http.StatusBadRequest, g.read(site.AliceKey, http.MethodGet, path+":download?alt=media").Status, "of the vendor")
				assert.JSONEq(t, `{}`, g.read(site.AliceKey, http.MethodDelete, path).Body)
				gone := g.read(site.AliceKey, http.MethodGet, path)
				assert.Equal(t, http.StatusForbidden, gone.Status)
				assert.NotRegexp(t, rawGoogles, gone.Body)
				assert.Contains(t, gone.Body, strings.TrimPrefix(file.Name, "files/"))
				raw := "/v1beta/files/" + rawGoogle(2)
				assert.Equal(t, []string{"GET " + raw, "GET " + raw, "GET " + raw + ":download?alt=media", "DELETE " + raw, "GET " + raw}, g.requests()[4:])
			})
		}
	})
}

// Older clients send a file behind its description.
func TestAFileOfAGeminiClientMayBeSentAtOnce(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		g := startGoogler(t, w)
		send := func(body string, headers ...string) site.Reply {
			return g.ask(site.AliceKey, http.MethodPost, uploadsOfGoogle, strings.NewReader(body), append([]string{"X-Goog-Upload-Protocol", "multipart", "Content-Type", "multipart/related; boundary=b"}, headers...)...)
		}
		const head = "--b\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
		file := fileOf(t, send(head+`{"file":{"displayName":"a"}}`+"\r\n--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--"))
		assert.Equal(t, googleFile{`{"file":{"displayName":"a"}}`, "hello", "text/plain", 5, false}, g.stored(1))
		assert.Regexp(t, `^files/1`, file.Name)
		for body, want := range map[string]string{
			head + `{"file":{"name":"files/mine"}}` + "\r\n--b\r\n\r\nhello\r\n--b--":                           "file.name: must not be sent: the names of files are not for clients to choose",
			head + `{"file":{}}` + "\r\n--b\r\n\r\nhello\r\n--b\r\n\r\nmore\r\n--b--":                           "file: must be the last part",
			head + `{"file":{}}` + "\r\n--b--":                                                                  "file: required",
			head + `{"file":{}}` + "\r\n--b\r\n\r\nhello":                                                       "request body: not a form of the type multipart/form-data: it has no end, or a part without a head",
			head + `{"file":{"displayName":"` + strings.Repeat("a", 5000) + `"}}` + "\r\n--b\r\n\r\na\r\n--b--": "description: must be a JSON document of at most 4096 bytes",
		} {
			refused := send(body)
			assert.Equal(t, http.StatusBadRequest, refused.Status, refused.Body)
			assert.Equal(t, want, refused.Failure(t).Message)
		}
		assert.Equal(t, http.StatusUnsupportedMediaType, send("", "Content-Type", "multipart/form-data; boundary=b").Status)
		assert.Empty(t, g.stored(2))
	})
}

// In other gateways, who knew the name of a file could read it, with any key, and name it in a request.
func TestX182AFileOfAGeminiClientIsThatOfItsClientAlone(t *testing.T) {
	g := startGoogler(t, site.Direct, site.Direct.ProviderAt("other", "127.0.0.1:9", "format gemini", "models elsewhere"), "model both {\nto other/elsewhere\nto p/m\n}")
	file, session := g.store(site.AliceKey, "secret"), g.start(site.AliceKey, uploadsOfGoogle, 3)
	ask := func(key, uri string) site.Reply {
		return g.post(key, "/v1beta/models/both:generateContent", `{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"text/plain","fileUri":"`+uri+`"}},{"text":"`+file.Name+`"}]}]}`)
	}
	for _, uri := range []string{file.URI, "https://gateway.example.com/v1beta/" + file.URI, "https://gateway.example.com/base/v1/" + file.URI} {
		answer := ask(site.AliceKey, uri)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		sent := g.requests()
		assert.Contains(t, sent[len(sent)-1], `"fileUri":"`+g.URL+`/v1beta/files/`+rawGoogle(2)+`"`, "at the provider of the file")
		assert.Contains(t, sent[len(sent)-1], `"text":"`+file.Name+`"`, "texts are no names")
	}
	before := len(g.requests())
	id := strings.TrimPrefix(file.Name, "files/")
	for name, try := range map[string][2]string{
		"of another key":       {site.BobKey, id},
		"of another, by URI":   {site.BobKey, strings.TrimPrefix(file.URI, "files/")},
		"the id of the vendor": {site.AliceKey, rawGoogle(2)},
		"changed":              {site.AliceKey, id[:len(id)-1] + string(id[len(id)-1]^1)},
		"in upper case":        {site.AliceKey, strings.ToUpper(id)},
		"a session":            {site.AliceKey, regexp.MustCompile(`upload_id=([^&]+)`).FindStringSubmatch(session)[1]},
		"long":                 {site.AliceKey, "1" + strings.Repeat("a", 5000)},
	} {
		for _, request := range []string{"GET ", "DELETE ", "GET :download?alt=media"} {
			method, below, _ := strings.Cut(request, " ")
			refused := g.read(try[0], method, "/v1beta/files/"+try[1]+below)
			assert.Equal(t, http.StatusNotFound, refused.Status, "%s, %s: %s", name, request, refused.Body)
			assert.Contains(t, refused.Body, `"status":"NOT_FOUND"`, name)
		}
		for _, uri := range []string{"files/", g.URL + "/v1beta/files/"} {
			assert.Equal(t, http.StatusNotFound, ask(try[0], uri+try[1]).Status, name)
		}
	}
	const contents = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[`
	for body, method := range map[string]string{ // where no name was looked for, or only a usual form of an address
		contents + `{"fileSearch":{"fileSearchStoreNames":["fileSearchStores/s"]}}]}`:                                                                          "generateContent",
		contents + `{"file_search":{"file_search_store_names":["fileSearchStores/s"]}}]}`:                                                                      "generateContent",
		contents + `{"retrieval":{"vertexRagStore":{"ragResources":[{"ragCorpus":"c"}]}}}]}`:                                                                   "generateContent",
		`{"contents":[{"role":"user","parts":[{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1main//Files%2Ff01?alt=media"}}]}]}`:          "generateContent",
		`{"content":{"parts":[{"fileData":{"fileUri":"files/f01"}}]}}`:                                                                                         "embedContent",
		`{"requests":[{"model":"models/both","content":{"parts":[{"file_data":{"file_uri":"https://generativelanguage.googleapis.com/v1beta/files/f01"}}]}}]}`: "batchEmbedContents",
	} {
		refused := g.post(site.AliceKey, "/v1beta/models/both:"+method, body)
		assert.Equal(t, http.StatusNotFound, refused.Status, body)
		assert.Contains(t, refused.Body, "not found", body)
	}
	for name, at := range map[string][2]string{
		"another key": {site.BobKey, session}, "a file": {site.AliceKey, uploadsOfGoogle + "?upload_id=" + id}, "the vendor": {site.AliceKey, uploadsOfGoogle + "?upload_id=" + g.session()},
		"nothing": {site.AliceKey, uploadsOfGoogle + "?upload_id="},
	} {
		assert.Equal(t, http.StatusNotFound, g.piece(at[0], at[1], "upload, finalize", 0, "abc").Status, name)
	}
	for path, want := range map[string]string{"files": "files", "files?pageSize=10": "files"} {
		list := g.read(site.AliceKey, http.MethodGet, "/v1beta/"+path)
		assert.Equal(t, http.StatusNotFound, list.Status)
		assert.Equal(t, "path: this gateway lists no "+want+", since the provider's list has those of all clients", list.Failure(t).Message)
	}
	assert.Len(t, g.requests(), before, "nothing is sent")
}

// A client could choose the name of a file, and learn so which names others have, and what is not a part of
// the protocol reached the vendor.
func TestUploadsOfGeminiClientsAreChecked(t *testing.T) {
	g := startGoogler(t, site.Direct, "max_upload 64KiB")
	session := g.start(site.AliceKey, uploadsOfGoogle, 3)
	before := len(g.requests())
	start := []string{"X-Goog-Upload-Protocol", "resumable", "X-Goog-Upload-Command", "start", "X-Goog-Upload-Header-Content-Length", "3"}
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		message    string
		status     int
	}{
		"a name":             {uploadsOfGoogle, `{"file":{"name":"files/mine"}}`, start, "file.name: must not be sent: the names of files are not for clients to choose", 400},
		"a name in capitals": {uploadsOfGoogle, `{"file":{"NAME":"files/mine"}}`, start, "file.NAME: must not be sent: the names of files are not for clients to choose", 400},
		"another spelling":   {uploadsOfGoogle, `{"File":{"name":"files/mine"}}`, start, "file: must be written in lower case", 400},
		"a large file":       {uploadsOfGoogle, `{}`, append(start[:4:4], "X-Goog-Upload-Header-Content-Length", "65537"), "request body: larger than the limit of 65536 bytes", 413},
		"another protocol":   {uploadsOfGoogle, `{}`, []string{"X-Goog-Upload-Protocol", "raw"}, "X-Goog-Upload-Protocol: must be 'resumable', with the command 'start', or 'multipart'", 400},
		"a command":          {session, `abc`, []string{"X-Goog-Upload-Command", "upload, start"}, "X-Goog-Upload-Command: must be of upload, finalize, query, cancel", 400},
		"no command":         {session, `abc`, nil, "X-Goog-Upload-Command: must be of upload, finalize, query, cancel", 400},
		"an offset":          {session, `abc`, []string{"X-Goog-Upload-Command", "upload", "X-Goog-Upload-Offset", "-1"}, "X-Goog-Upload-Offset: must be a number of bytes", 400},
		"far":                {session, `abc`, []string{"X-Goog-Upload-Command", "upload", "X-Goog-Upload-Offset", "65534"}, "request body: larger than the limit of 65536 bytes", 413},
	} {
		refused := g.post(site.AliceKey, c.path, c.body, c.headers...)
		assert.Equal(t, c.status, refused.Status, "%s: %s", name, refused.Body)
		assert.Equal(t, c.message, refused.Failure(t).Message, name)
	}
	assert.Len(t, g.requests(), before, "nothing is sent")
	unknown := g.ask(site.AliceKey, http.MethodPost, session, io.MultiReader(strings.NewReader("a"), io.LimitReader(zeros{}, 1<<20)), "X-Goog-Upload-Command", "upload, finalize")
	assert.Equal(t, http.StatusRequestEntityTooLarge, unknown.Status, "its length is not announced")
	assert.Empty(t, g.stored(2))
	cancelled := g.piece(site.AliceKey, session, "cancel", 0, "")
	assert.Equal(t, "cancelled", cancelled.Header.Get("X-Goog-Upload-Status"))
}

// Other gateways hold a piece in memory until they have all of it, and took at most as much as other requests
// may have. This one held the first line of any file, up to max_body.
func TestX048APieceIsNotKept(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const size = 200 << 20
		g := startGoogler(t, w)
		session := g.start(site.AliceKey, uploadsOfGoogle, size)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		created := g.ask(site.AliceKey, http.MethodPost, session, io.LimitReader(zeros{}, size), "X-Goog-Upload-Command", "upload, finalize", "X-Goog-Upload-Offset", "0")
		runtime.ReadMemStats(&after)
		assert.Equal(t, strconv.Itoa(size), fileOf(t, created).SizeBytes)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20), "of provider, gateway and client together")
	})
}

// Clients go on with an upload at the address in the answer: never at a host that a request names.
func TestTheAddressOfAnUploadIsThatOfTheGateway(t *testing.T) {
	site.SetKeys(t)
	for name, c := range map[string]struct{ line, want string }{
		"configured": {"public_url https://ai.example.com/base/", "https://ai.example.com/base/upload/v1beta/files?upload_id=1"},
		"unknown":    {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := startGoogle(t)
			block := site.Block("", site.Direct.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), "format gemini", "files_state sealed", "models m"), "key alice {env.KEY_ALICE}", c.line)
			s := site.StartCaddyfile(t, strings.Replace(block, "127.0.0.1:", ":", 1))
			at := googler{g, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
			started := at.post(site.AliceKey, uploadsOfGoogle, `{}`, "X-Goog-Upload-Protocol", "resumable", "X-Goog-Upload-Command", "start",
				"X-Goog-Upload-Header-Content-Length", "3", "X-Forwarded-Host", "evil.example.com")
			if c.want == "" {
				assert.Equal(t, http.StatusBadRequest, started.Status)
				assert.Equal(t, "this gateway does not know its own address, at which the upload would go on: an administrator can set public_url", started.Failure(t).Message)
				return
			}
			address := started.Header.Get("X-Goog-Upload-Url")
			assert.True(t, strings.HasPrefix(address, c.want), address)
			_, query, _ := strings.Cut(address, "?")
			file := fileOf(t, at.piece(site.AliceKey, uploadsOfGoogle+"?"+query, "upload, finalize", 0, "abc"))
			assert.Regexp(t, `^https://ai\.example\.com/base/v1beta/files/1[0-9a-v]+$`, file.URI)
		})
	}
}

// Without a provider that stores files, other handlers of the site have the path of uploads, as before.
func TestFilesOfGeminiClientsAreOffByDefault(t *testing.T) {
	site.SetKeys(t)
	g := startGoogle(t)
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), "format gemini", "models m"),
		site.Direct.ProviderAt("q", strings.TrimPrefix(g.URL, "http://"), "format chat", "files_state sealed", "models n"))
	for _, request := range []string{"POST /upload/v1beta/files", "GET /v1beta/files", "GET /v1beta/files/1a", "DELETE /v1beta/files/1a", "GET /v1beta/files/1a:download", "GET /download/v1beta/files/1a:download"} {
		method, path, _ := strings.Cut(request, " ")
		refused := s.Call(method, s.URL("site", path), "", "X-Goog-Api-Key", site.ClientKey)
		assert.Equal(t, http.StatusNotFound, refused.Status, request)
		assert.Contains(t, refused.Body, "the gateway does not serve", request)
	}
	assert.Empty(t, g.requests())
}

// A guard that could not read a file let it pass.
func TestAFileOfAGeminiClientThatAGuardCannotCheckIsRefused(t *testing.T) {
	g := startGoogler(t, site.Direct, "guard words regex {\nblock email\n}")
	refused := g.post(site.AliceKey, uploadsOfGoogle, `{}`, "X-Goog-Upload-Protocol", "resumable", "X-Goog-Upload-Command", "start")
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, "this key may not store files: the guard 'words' cannot check them", refused.Failure(t).Message)
	assert.Empty(t, g.requests())
}
