package accounts

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The bounds of a page.
const (
	usualPage  = 20
	largest    = 100
	mostPages  = 1_000_000
	maxKeyword = 256 // bytes
)

// pageView is a part of a list.
type pageView struct {
	Items    any `json:"items"`
	Total    int `json:"total"`
	Page     int `json:"page"` // from 1
	PageSize int `json:"page_size"`
}

// page reads which part of a list is asked for: p or page, from 1, size or
// page_size, and keyword. Page 0 is the first one too, and a larger size than
// the largest is that: clients of this field send both.
func (c *call) page() (pageView, aigateway.Page, error) {
	number, err := c.queryNumber(1, "p", "page")
	if err != nil {
		return pageView{}, aigateway.Page{}, err
	}
	size, err := c.queryNumber(usualPage, "size", "page_size")
	if err != nil {
		return pageView{}, aigateway.Page{}, err
	}
	keyword := c.URL.Query().Get("keyword")
	if number > mostPages || len(keyword) > maxKeyword {
		return pageView{}, aigateway.Page{}, invalid("p must be at most %d, and keyword at most %d bytes", mostPages, maxKeyword)
	}
	number, size = max(number, 1), min(max(size, 1), largest)
	page := aigateway.Page{Search: keyword, Offset: (number - 1) * size, Limit: size}
	return pageView{Page: number, PageSize: size}, page, nil
}

// queryNumber reads a number of the query that has two names.
func (c *call) queryNumber(standard int, names ...string) (int, error) {
	query := c.URL.Query()
	for _, name := range names {
		if !query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(name))
		if err != nil || n < 0 {
			return 0, invalid("%s must be a whole number", name)
		}
		return n, nil
	}
	return standard, nil
}
