package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// searchType is the type of items that are searches of the web.
const searchType = "web_search_call"

// searchesIn returns the number of searches in a raw list of items.
func searchesIn(items []byte) (n int64) {
	if !bytes.Contains(items, []byte(searchType)) { // nearly always
		return 0
	}
	c := jsonscan.Again(items)
	for c.OpenArray(); c.Element(); {
		if isSearch(&c) {
			n++
		}
	}
	return n
}

// isSearch consumes an item and reports whether it is a search that the provider has made,
// which has a price. Opening a page that was found, or searching within it, has none.
func isSearch(c *jsonscan.Cursor) bool {
	var kind, status, action []byte
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			kind = unquoted(c.StringOrSkip())
		case "status":
			status = unquoted(c.StringOrSkip())
		case "action":
			action = unquoted(c.TypeAhead())
			c.Skip()
		default:
			c.Skip()
		}
	}
	return string(kind) == searchType && string(status) == completed &&
		string(action) != "open_page" && string(action) != "find_in_page"
}

// countSearch counts the item of an event that ends one, if it is a search.
func (o *Observer) countSearch(data []byte) {
	if !bytes.Contains(data, []byte(searchType)) {
		return
	}
	c := jsonscan.New(data)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "item" {
			c.Skip()
		} else if isSearch(&c) {
			o.head.counts.Searches++
		}
	}
	o.Used = o.Used.Then(o.head.counts.Usage())
}

// countSearch counts the item that the current event ends, if it is a search.
func (p *Parser) countSearch() {
	c := jsonscan.Again(p.read.item)
	if !isSearch(&c) {
		return
	}
	p.counts.Searches++
	p.read.head.counts = p.counts
	if p.started {
		p.sendUsage()
	}
}
