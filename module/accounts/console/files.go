package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

//go:embed files
var folder embed.FS

// embedded returns the files of the folder.
var embedded = sync.OnceValue(func() *files {
	tree, err := fs.Sub(folder, "files")
	if err != nil { // the name is a constant
		panic(err)
	}
	all, err := load(tree)
	if err != nil { // the files are part of the program, and a test loads them
		panic(err)
	}
	return all
})

// files are the files of the console.
type files struct {
	hash  string // of the names and contents of all files
	files map[string]*file
	index [4]*file // index.html, by the number of segments of its path below Root but the last
}

const (
	indexName = "index.html"
	// static is the beginning of the addresses of files in index.html, where the console
	// replaces it by the beginning that contains the hash, relative to the page.
	static = Root + "static/"
)

// load reads and compresses the files of a folder.
func load(tree fs.FS) (*files, error) {
	all, sum := &files{files: make(map[string]*file)}, sha256.New()
	var index []byte
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		addTo(sum, name, content)
		if name == indexName {
			index = content
			return nil
		}
		if path.Ext(name) == ".js" && !strings.HasPrefix(name, "vendor/") {
			content = stripped(content)
		}
		all.files[name], err = newFile(name, content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading files of the console: %w", err)
	}
	all.hash = hex.EncodeToString(sum.Sum(nil)[:8])
	for depth := range all.index {
		beginning := strings.Repeat("../", depth) + all.hash + "/"
		if all.index[depth], err = newFile(indexName, bytes.ReplaceAll(index, []byte(static), []byte(beginning))); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// comments are the comments of a script that have lines of their own, and indentation its beginnings of lines.
var (
	comments    = regexp.MustCompile(`(?m)^[\t ]*(?://.*|/\*(?:[^*]|\*+[^*/])*\*+/)\n`)
	indentation = regexp.MustCompile(`(?m)^\t+`)
)

// stripped returns a script without what only its authors need, a quarter of it. A line of a text
// must not look like a comment, and not begin with tabs that count.
func stripped(script []byte) []byte {
	return indentation.ReplaceAll(comments.ReplaceAll(script, nil), nil)
}

// addTo adds a file to a hash, with the lengths of its parts, so that no two folders have the
// same hash.
func addTo(sum hash.Hash, name string, content []byte) {
	_, _ = fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(content)) // never fails
	sum.Write(content)
}

// file is a file, and what its answers contain.
type file struct {
	contentType string
	tag         string // the header ETag
	plain       []byte
	compressed  []byte // with gzip; nil if that is no smaller
}

// contentTypes are the types of files, by the ends of their names. The types of package mime
// depend on the machine.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
	".json": "application/json", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8",
}

func newFile(name string, content []byte) (*file, error) {
	contentType, known := contentTypes[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("%s: the console has no type for such files", name)
	}
	sum := sha256.Sum256(content)
	f := &file{contentType: contentType, tag: `"` + hex.EncodeToString(sum[:8]) + `"`, plain: content}
	var compressed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&compressed, gzip.BestCompression) // the level is valid
	_, _ = writer.Write(content)                                        // memory takes all
	_ = writer.Close()
	if compressed.Len() < len(content) {
		f.compressed = compressed.Bytes()
	}
	return f, nil
}

// serve answers with the file.
func (f *file) serve(w http.ResponseWriter, r *http.Request, caching string) {
	header := w.Header()
	header.Set("Cache-Control", caching)
	header.Set("Vary", "Accept-Encoding")
	body, tag := f.plain, f.tag
	if f.compressed != nil && acceptsGzip(r.Header) {
		header.Set("Content-Encoding", "gzip")
		body, tag = f.compressed, strings.TrimSuffix(f.tag, `"`)+`-gzip"`
	}
	header.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client may have left
	}
}

// acceptsGzip reports whether a client accepts gzip. One that accepts it with any weight but 0
// does.
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight = strings.TrimPrefix(strings.TrimSpace(weight), "q=")
			value, err := strconv.ParseFloat(weight, 64)
			return weight == "" || err == nil && value > 0
		}
	}
	return false
}
