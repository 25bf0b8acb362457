package accounts

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The bounds of a page.
const (
	defaultPageSize = 20
	maxPageSize     = 100
	maxPage         = 1_000_000
	maxKeyword      = 256 // bytes
)

// pageView is a page of a list in an answer.
type pageView struct {
	Items    any `json:"items"`
	Total    int `json:"total"`
	Page     int `json:"page"` // from 1
	PageSize int `json:"page_size"`
}

// page reads a page from the query: p or page, from 1; size or page_size; and keyword.
// A smaller page than 1 is the first page, and a size out of bounds is replaced by the nearest
// bound, because existing clients send such numbers.
func (c *call) page() (pageView, aigateway.Page, error) {
	number, err := c.queryNumber(1, "p", "page")
	if err != nil {
		return pageView{}, aigateway.Page{}, err
	}
	size, err := c.queryNumber(defaultPageSize, "size", "page_size")
	if err != nil {
		return pageView{}, aigateway.Page{}, err
	}
	keyword := c.URL.Query().Get("keyword")
	if number > maxPage || len(keyword) > maxKeyword {
		return pageView{}, aigateway.Page{}, invalid("p must be at most %d, and keyword at most %d bytes", maxPage, maxKeyword)
	}
	number, size = max(number, 1), min(max(size, 1), maxPageSize)
	page := aigateway.Page{Search: keyword, Offset: (number - 1) * size, Limit: size}
	return pageView{Page: number, PageSize: size}, page, nil
}

// queryNumber returns a number of the query, which may have one of several names. It may be
// negative.
func (c *call) queryNumber(absent int, names ...string) (int, error) {
	query := c.URL.Query()
	for _, name := range names {
		if !query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(name))
		if err != nil {
			return 0, invalid("%s must be a whole number", name)
		}
		return n, nil
	}
	return absent, nil
}
