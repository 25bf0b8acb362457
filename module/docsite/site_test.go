package docsite

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile/docs"
)

func buildOf(t *testing.T, pages map[string]string) map[string][]byte {
	t.Helper()
	tree := make(fstest.MapFS)
	for name, content := range pages {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	files, err := build(tree, "1.2.3")
	require.NoError(t, err)
	return files
}

// Links between pages lead to the site; links to what is no page lead to the repository.
func TestLinksLeadToTheSiteOrToTheRepository(t *testing.T) {
	page := string(buildOf(t, map[string]string{
		"README.md":       "# Home\n\n[a](a.md#b-c), [picture](speed/x.svg), [rule](../../translate/rules/streams.md#s), [file](../deploy/x.yaml), [other](https://example.com/x.md), [here](#home)\n",
		"a.md":            "# A\n\n## `b_c` and (D)\n\n[home](README.md)\n",
		"speed/x.svg":     "<svg/>",
		"speed/ignored.x": "",
	})["index.html"])
	for _, target := range []string{
		"a.html#b-c", "speed/x.svg", repository + "translate/rules/streams.md#s", repository + "caddyfile/deploy/x.yaml", "https://example.com/x.md", "#home",
	} {
		assert.Contains(t, page, `href="`+target+`"`)
	}
}

func TestHeadingsHaveTheAnchorsOfGitHub(t *testing.T) {
	page := string(buildOf(t, map[string]string{"README.md": "# Home\n\n## `b_c` and (D): one\n\n## Words\n\n## Words\n"})["index.html"])
	for _, id := range []string{"b_c-and-d-one", "words", "words-1"} {
		assert.Contains(t, page, `id="`+id+`"`)
	}
}

// The markup of a page is no markup of the site, and no text ends the script of the sections.
func TestTextOfPagesIsEscaped(t *testing.T) {
	files := buildOf(t, map[string]string{"README.md": "# A <b>\n\n`</script><script>alert(1)</script>` & <i>x</i>\n"})
	assert.NotContains(t, string(files["index.html"]), "<script>alert")
	assert.NotContains(t, string(files["index.html"]), "<i>")
	assert.NotContains(t, string(files["sections.js"]), "</script>")
}

// A page that the list of pages lacks could be found only through others.
func TestTheListOfPagesHasEveryPageOnce(t *testing.T) {
	home, err := fs.ReadFile(docs.Pages, homePage)
	require.NoError(t, err)
	pages, err := fs.Glob(docs.Pages, "*.md")
	require.NoError(t, err)
	for _, page := range pages {
		if page != homePage {
			assert.Equal(t, 1, strings.Count(string(home), "\n| ["+titleOf(t, page)+"]("+page+") |"), page)
		}
	}
}

// titleOf returns the heading of a page.
func titleOf(t *testing.T, page string) string {
	t.Helper()
	text, err := fs.ReadFile(docs.Pages, page)
	require.NoError(t, err)
	title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
	return title
}

var target = regexp.MustCompile(`(?:href|src)="([^":#]*)(?:#([^"]*))?"`)

// Every address of the written site is relative, and leads to a file and an anchor of it.
func TestLinksOfTheWrittenSiteLeadSomewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "site")
	require.NoError(t, Write(dir))
	found := 0
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 30)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, match := range target.FindAllStringSubmatch(string(text), -1) {
			found++
			file := filepath.Base(page)
			if match[1] != "" {
				file = match[1]
			}
			content, err := os.ReadFile(filepath.Join(dir, path.Clean(file)))
			if assert.NoError(t, err, "%s: %s", page, match[0]) && match[2] != "" {
				assert.Contains(t, string(content), `id="`+match[2]+`"`, "%s: %s", page, match[0])
			}
		}
	}
	assert.Greater(t, found, 1000)
}

func TestServeAnswersWithFilesOfTheSiteAlone(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		kind   string
	}{
		"":               {http.StatusOK, "text/html; charset=utf-8"},
		"limits.html":    {http.StatusOK, "text/html; charset=utf-8"},
		"search.js":      {http.StatusOK, "text/javascript; charset=utf-8"},
		"site.css":       {http.StatusOK, "text/css; charset=utf-8"},
		"limits.md":      {http.StatusNotFound, "text/plain; charset=utf-8"},
		"../go.mod":      {http.StatusNotFound, "text/plain; charset=utf-8"},
		"layout.html":    {http.StatusNotFound, "text/plain; charset=utf-8"},
		"speed/../x.svg": {http.StatusNotFound, "text/plain; charset=utf-8"},
	} {
		w := httptest.NewRecorder()
		Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), name)
		assert.Equal(t, c.status, w.Code, name)
		assert.Equal(t, c.kind, w.Header().Get("Content-Type"), name)
		if c.status == http.StatusOK {
			assert.Equal(t, contentPolicy, w.Header().Get("Content-Security-Policy"), name)
		}
	}
}
