package docsite

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// repository is where links lead whose files are no pages.
const repository = "https://github.com/caddy-ai-gateway/caddy-ai-gateway/blob/main/"

// folderOfPages is the folder of the pages in the repository.
const folderOfPages = "caddyfile/docs"

// page is a page of the site.
type page struct {
	name     string // of its file, such as limits.md
	title    string
	body     string // HTML
	groups   []group
	sections []section
}

// group is a heading of a page, and the pages that are linked below it.
type group struct {
	Title string
	Links []link
}

// link is a link to a page.
type link struct{ Address, Title string }

// section is what the search finds: a heading, and the text up to the next one.
type section struct {
	Address string `json:"address"`
	Page    string `json:"page"`
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// accessible changes what readers without a mouse or a screen cannot use: a code or a table that is
// wider than the window scrolls by keys if it can get the focus, and a cell without a text is no heading of
// its column. Texts of pages contain no elements, since they are escaped.
var accessible = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`, "<th></th>", "<td></td>")

// render returns the page of a Markdown file.
func render(tree fs.FS, name string, source []byte) (*page, error) {
	context := parser.NewContext(parser.WithIDs(anchors{}))
	document := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	p := &page{name: name}
	p.leadLinks(tree, document)
	p.divide(document, source)
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, document); err != nil {
		return nil, fmt.Errorf("rendering page %s: %w", name, err)
	}
	p.body = accessible.Replace(body.String())
	return p, nil
}

// leadLinks changes the targets of relative links: those of pages lead to the site, others to the
// repository.
func (p *page) leadLinks(tree fs.FS, document ast.Node) {
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if target, ok := node.(*ast.Link); ok && entering {
			target.Destination = []byte(lead(tree, string(target.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// lead returns the target of a link in the site.
func lead(tree fs.FS, target string) string {
	file, anchor, hasAnchor := strings.Cut(target, "#")
	if file == "" || strings.Contains(file, ":") {
		return target
	}
	if _, err := fs.Stat(tree, path.Clean(file)); err != nil { // no page, and no picture of one
		return repository + strings.TrimPrefix(path.Join(folderOfPages, target), "/")
	}
	if path.Ext(file) == ".md" {
		file = address(file)
	}
	if hasAnchor {
		file += "#" + anchor
	}
	return file
}

// divide sets the title, the groups and the sections.
func (p *page) divide(document ast.Node, source []byte) {
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if heading, ok := node.(*ast.Heading); ok {
			p.begin(heading, plain(heading, source))
			continue
		}
		if len(p.sections) > 0 {
			last := &p.sections[len(p.sections)-1]
			last.Text = strings.TrimSpace(last.Text + " " + plain(node, source))
		}
		if len(p.groups) > 0 {
			last := &p.groups[len(p.groups)-1]
			last.Links = append(last.Links, linksOf(node, source)...)
		}
	}
}

// begin begins a section.
func (p *page) begin(heading *ast.Heading, title string) {
	target := address(p.name)
	switch heading.Level {
	case 1:
		p.title = title
	default:
		id, _ := heading.AttributeString("id")
		target += fmt.Sprintf("#%s", id)
		p.groups = append(p.groups, group{Title: title})
	}
	p.sections = append(p.sections, section{Address: target, Page: p.title, Heading: title})
}

// linksOf returns the links of a node to pages of the site.
func linksOf(node ast.Node, source []byte) (links []link) {
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if target, ok := node.(*ast.Link); ok && entering && strings.HasSuffix(string(target.Destination), ".html") {
			links = append(links, link{string(target.Destination), plain(target, source)})
		}
		return ast.WalkContinue, nil
	})
	return links
}

// plain returns the text of a node, its code included.
func plain(node ast.Node, source []byte) string {
	var words strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch node := node.(type) {
		case *ast.Text:
			if entering {
				words.Write(node.Segment.Value(source))
			}
		case *ast.FencedCodeBlock:
			if entering {
				words.Write(node.Lines().Value(source))
			}
		}
		if !entering && node.Type() == ast.TypeBlock {
			words.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(words.String()), " ")
}

// anchors are the anchors of the headings of a page, as GitHub names them.
type anchors map[string]int

var dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// Generate implements parser.IDs.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	words := dropped.ReplaceAllString(strings.ToLower(string(heading)), "")
	id := strings.ReplaceAll(words, " ", "-")
	if n := a[id]; n > 0 {
		a[id]++
		return []byte(id + "-" + strconv.Itoa(n))
	}
	a.Put([]byte(id))
	return []byte(id)
}

// Put implements parser.IDs.
func (a anchors) Put(id []byte) { a[string(id)]++ }
