// Package docsite makes a static site of the pages for users: HTML without a build step, with a
// search that works without a server.
//
// It promises that every address in the site is relative, so that the site works below any path
// and from a folder; that it needs nothing of another origin; and that the list of pages is that
// of the page README.md, which becomes the first page of the site.
package docsite

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile/docs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
)

// homePage is the page with the list of all pages.
const homePage = "README.md"

//go:embed files
var folder embed.FS

var layout = template.Must(template.ParseFS(folder, "files/layout.html"))

// Files returns the site of the pages of this program: the contents of its files, by name.
var Files = sync.OnceValues(func() (map[string][]byte, error) {
	return build(docs.Pages, version.Of(version.Running()))
})

// Write writes the site to a folder, which it creates if need be.
func Write(dir string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("creating folder of the site: %w", err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("writing file of the site: %w", err)
		}
	}
	return nil
}

// build makes a site of a folder of pages.
func build(tree fs.FS, release string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	var pages []*page
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if path.Ext(name) != ".md" {
			files[name] = content
			return nil
		}
		p, err := render(tree, name, content)
		pages = append(pages, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading pages: %w", err)
	}
	if err := addPages(files, pages, release); err != nil {
		return nil, err
	}
	return files, addAssets(files)
}

// addPages adds the pages, each with the list of all of them, and what the search reads.
func addPages(files map[string][]byte, pages []*page, release string) error {
	var groups []group
	var sections []section
	for _, p := range pages {
		sections = append(sections, p.sections...)
		if p.name == homePage {
			groups = p.groups
		}
	}
	for _, p := range pages {
		var page bytes.Buffer
		err := layout.Execute(&page, map[string]any{
			"Title": p.title, "Address": address(p.name), "Body": template.HTML(p.body), "Groups": groups, "Version": release,
		})
		if err != nil {
			return fmt.Errorf("writing page %s: %w", p.name, err)
		}
		files[address(p.name)] = page.Bytes()
	}
	index, err := json.Marshal(sections)
	if err != nil {
		return fmt.Errorf("writing the sections for the search: %w", err)
	}
	files["sections.js"] = append(append([]byte("globalThis.sections = "), index...), ";\n"...)
	return nil
}

// addAssets adds the style and the script.
func addAssets(files map[string][]byte) error {
	for _, name := range []string{"site.css", "search.js"} {
		content, err := folder.ReadFile("files/" + name)
		if err != nil {
			return fmt.Errorf("reading file of the site: %w", err)
		}
		files[name] = content
	}
	return nil
}

// address returns the address of a page in the site.
func address(name string) string {
	if name == homePage {
		return "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}
