// Package console serves the console: a web page with which users and operators use the HTTP
// API of accounts.
//
// It promises that what is in the folder files is what browsers get, without a build step; that
// every address in it is relative, so that the page works below a path that a site, or a proxy in
// front of it, cuts off;
// that a file is cached for ever under an address that changes with the content of any file;
// and that every answer forbids inline scripts, scripts of other origins, and frames.
//
// It answers nothing but files, those of the pages for users among them: what the page shows, it
// reads from the paths below /api/, with the rights of the session.
package console

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/docsite"
)

// Root is the beginning of all paths of the console.
const Root = "/console/"

// pages is the beginning of the paths below Root of the pages for users.
const pages = "docs/"

// Serves reports whether the console answers requests for a path.
func Serves(sent string) bool {
	return sent == strings.TrimSuffix(Root, "/") || strings.HasPrefix(sent, Root)
}

// contentPolicy is the Content-Security-Policy of every answer.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The values of Cache-Control.
const (
	forever    = "public, max-age=31536000, immutable"
	revalidate = "no-cache"
)

// ServeHTTP answers a request for a path that Serves accepts.
func ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "the console accepts GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name, hasPath := strings.CutPrefix(r.URL.Path, Root)
	switch {
	case !hasPath:
		redirect(w, strings.TrimPrefix(Root, "/"))
		return
	case name+"/" == pages:
		redirect(w, pages)
		return
	}
	if page, ok := strings.CutPrefix(name, pages); ok {
		docsite.Serve(w, r, page)
		return
	}
	all := embedded()
	if hashed, ok := strings.CutPrefix(name, all.hash+"/"); ok && all.files[hashed] != nil {
		all.files[hashed].serve(w, r, forever)
		return
	}
	if strings.Contains(name[strings.LastIndex(name, "/")+1:], ".") || strings.HasPrefix(name, all.hash) {
		http.Error(w, "the console has no such file; after an update of the gateway, load the page again", http.StatusNotFound)
		return
	}
	depth := strings.Count(strings.TrimPrefix(r.URL.EscapedPath(), Root), "/")
	if depth >= len(all.index) {
		http.Error(w, "the console has no such page", http.StatusNotFound)
		return
	}
	all.index[depth].serve(w, r, revalidate) // the script of the page shows the part that the path names
}

// redirect leads to an address relative to that of the request. http.Redirect would make it
// absolute.
func redirect(w http.ResponseWriter, address string) {
	w.Header().Set("Cache-Control", revalidate)
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusPermanentRedirect)
}
