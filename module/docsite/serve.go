package docsite

import (
	"bytes"
	"net/http"
	"path"
	"time"
)

// types are the content types of the files, by the ends of their names. Those of package mime
// depend on the machine.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// contentPolicy allows what the site contains, and nothing of another origin.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Serve answers a request with a file of the site; "" is the first page.
func Serve(w http.ResponseWriter, r *http.Request, name string) {
	files, err := Files()
	if err != nil {
		http.Error(w, "the pages cannot be shown", http.StatusInternalServerError)
		return
	}
	if name == "" {
		name = address(homePage)
	}
	content, exists := files[name]
	if !exists {
		http.Error(w, "there is no such page", http.StatusNotFound)
		return
	}
	header := w.Header()
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache") // the next version has other pages
	header.Set("Content-Type", types[path.Ext(name)])
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
