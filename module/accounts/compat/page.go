package compat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The bounds of a page.
const (
	usualSize   = 20
	largestSize = 100
	largestPage = 1_000_000
)

// page is a numbered page of a list in an answer.
type page struct {
	Items any `json:"items"`
	Total int `json:"total"`
	Page  int `json:"page"` // from 1
	Size  int `json:"page_size"`
}

// readPage reads a page from the query: p or page, from 1; size or page_size; and keyword.
// A smaller page than 1 is the first page, and a size out of bounds is replaced by the nearest
// bound, because existing clients send such numbers.
func readPage(c *call.Call) (page, aigateway.Page, error) {
	number, err := c.QueryNumber(1, "p", "page")
	if err != nil {
		return page{}, aigateway.Page{}, err
	}
	size, err := c.QueryNumber(usualSize, "size", "page_size")
	if err != nil {
		return page{}, aigateway.Page{}, err
	}
	keyword := c.URL.Query().Get("keyword")
	if number > largestPage || len(keyword) > call.MaxSearch {
		return page{}, aigateway.Page{}, answer.Invalid("p must be at most %d, and keyword at most %d bytes", largestPage, call.MaxSearch)
	}
	number, size = max(number, 1), min(max(size, 1), largestSize)
	return page{Page: number, Size: size}, aigateway.Page{Search: keyword, Offset: (number - 1) * size, Limit: size}, nil
}
