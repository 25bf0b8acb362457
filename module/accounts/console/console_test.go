package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ask returns the answer to a request with an encoding; "" for none.
func ask(t *testing.T, method, path, encoding string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	require.True(t, Serves(r.URL.Path))
	w := httptest.NewRecorder()
	ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

func TestOnlyPathsOfTheConsoleAreServed(t *testing.T) {
	for path, serves := range map[string]bool{
		"/console": true, "/console/": true, "/console/keys": true, "/consoles": false, "/": false, "/x/console/": false,
	} {
		assert.Equal(t, serves, Serves(path), path)
	}
}

// Pages have paths of their own, which a link can name: each is the same document.
func TestEveryPageIsTheIndex(t *testing.T) {
	index := text(t, ask(t, "GET", "/console/", ""))
	assert.Contains(t, index, "<!doctype html>")
	assert.NotContains(t, index, static, "the addresses of files must contain the hash")
	for path, up := range map[string]string{"/console/keys": "", "/console/usage?range=7d": "", "/console/exchanges/7": "../", "/console/teams/a%2Fb": "../", "/console/a/b/c": "../../"} {
		answer := ask(t, "GET", path, "")
		assert.Equal(t, http.StatusOK, answer.StatusCode, path)
		assert.Equal(t, "no-cache", answer.Header.Get("Cache-Control"), path)
		assert.Equal(t, strings.ReplaceAll(index, embedded().hash, up+embedded().hash), text(t, answer), path)
	}
	assert.Equal(t, http.StatusNotFound, ask(t, "GET", "/console/a/b/c/d/e", "").StatusCode)
	redirect := ask(t, "GET", "/console", "")
	assert.Equal(t, http.StatusPermanentRedirect, redirect.StatusCode)
	assert.Equal(t, "console/", redirect.Header.Get("Location"), "a site may have cut off the beginning of the path")
}

func TestFilesOfTheIndexAreCachedForEver(t *testing.T) {
	named := regexp.MustCompile(`(?:src|href)="([^"/][^"]+\.[a-z0-9]+)"`).FindAllStringSubmatch(text(t, ask(t, "GET", "/console/", "")), -1)
	require.NotEmpty(t, named)
	for _, match := range named {
		answer := ask(t, "GET", Root+match[1], "")
		assert.Equal(t, http.StatusOK, answer.StatusCode, match[1])
		assert.Equal(t, forever, answer.Header.Get("Cache-Control"), match[1])
	}
	for _, path := range []string{"/console/0123456789abcdef/console.css", "/console/console.css", "/console/" + embedded().hash + "/", "/console/" + embedded().hash + "/keys"} {
		assert.Equal(t, http.StatusNotFound, ask(t, "GET", path, "").StatusCode, path)
	}
}

func TestEveryAnswerIsStrict(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/console/", 200}, {"HEAD", "/console/", 200}, {"GET", "/console", 308}, {"GET", "/console/no.js", 404}, {"POST", "/console/", 405},
	} {
		answer := ask(t, c.method, c.path, "")
		assert.Equal(t, c.status, answer.StatusCode, c)
		assert.Equal(t, contentPolicy, answer.Header.Get("Content-Security-Policy"), c)
		assert.Equal(t, "same-origin", answer.Header.Get("Cross-Origin-Opener-Policy"), c)
		assert.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"), c)
		assert.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"), c)
	}
	assert.Empty(t, text(t, ask(t, "HEAD", "/console/", "")))
	assert.Equal(t, "GET, HEAD", ask(t, "DELETE", "/console/", "").Header.Get("Allow"))
}

func TestFilesAreCompressedForClientsThatAcceptIt(t *testing.T) {
	plain := text(t, ask(t, "GET", "/console/", ""))
	for encoding, compressed := range map[string]bool{"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "br": false} {
		answer := ask(t, "GET", "/console/", encoding)
		assert.Equal(t, "Accept-Encoding", answer.Header.Get("Vary"), encoding)
		if !compressed {
			assert.Empty(t, answer.Header.Get("Content-Encoding"), encoding)
			continue
		}
		assert.Equal(t, "gzip", answer.Header.Get("Content-Encoding"), encoding)
		unpacked, err := gzip.NewReader(answer.Body)
		require.NoError(t, err)
		body, err := io.ReadAll(unpacked)
		require.NoError(t, err)
		assert.Equal(t, plain, string(body), encoding)
	}
}

func TestAnUnchangedIndexIsNotSentAgain(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/console/", nil)
	r.Header.Set("If-None-Match", ask(t, "GET", "/console/", "").Header.Get("ETag"))
	w := httptest.NewRecorder()
	ServeHTTP(w, r)
	assert.Equal(t, http.StatusNotModified, w.Code)
	assert.Zero(t, w.Body.Len())
}

// A module that another one imports must have a new address, too, if only it has changed.
func TestTheAddressesDependOnEveryFile(t *testing.T) {
	hash := func(imported string) string {
		all, err := load(fstest.MapFS{
			"index.html": {Data: []byte("<script src=/console/static/a.js>")}, "a.js": {Data: []byte("import './b.js'")}, "b.js": {Data: []byte(imported)},
		})
		require.NoError(t, err)
		assert.Equal(t, "<script src="+all.hash+"/a.js>", string(all.index[0].plain))
		return all.hash
	}
	assert.Equal(t, hash("1"), hash("1"))
	assert.NotEqual(t, hash("1"), hash("2"))
	_, err := load(fstest.MapFS{"index.html": {}, "a.exe": {}})
	assert.ErrorContains(t, err, "a.exe")
}

// The console has the pages for users of the version that runs, below a path of its own.
func TestTheConsoleHasThePagesForUsers(t *testing.T) {
	for path, status := range map[string]int{"/console/docs": http.StatusPermanentRedirect, "/console/docs/": http.StatusOK, "/console/docs/limits.html": http.StatusOK, "/console/docs/none.html": http.StatusNotFound} {
		assert.Equal(t, status, ask(t, "GET", path, "").StatusCode, path)
	}
	linked := 0
	for name, f := range embedded().files {
		for _, match := range regexp.MustCompile(`\$\{root\}(docs/[a-z-]*(?:\.html)?)`).FindAllStringSubmatch(string(f.plain), -1) {
			linked++
			assert.Equal(t, http.StatusOK, ask(t, "GET", Root+match[1], "").StatusCode, name)
		}
		assert.NotContains(t, string(f.plain), "blob/main/caddyfile/docs", "%s links to pages of another version", name)
	}
	assert.Equal(t, 5, linked)
	assert.Contains(t, text(t, ask(t, "GET", "/console/docs/", "")), "<h1 id=\"documentation\">Documentation</h1>")
}
