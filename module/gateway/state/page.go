package state

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// Page selects a page of a list, by the names of its items.
type Page struct {
	Size     int    // the number of items from which the page ends, with the last item of a name
	Previous string // the last name of the page before; "" for the first page
}

// ReadPage reads the parameters of a page: limit, which a number out of bounds replaces by the
// nearest bound, and after. Without a limit, the size is the largest one.
func ReadPage(query url.Values, largest int) (Page, error) {
	size := largest
	if query.Has("limit") {
		var err error
		if size, err = strconv.Atoi(query.Get("limit")); err != nil {
			return Page{}, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: errors.New("limit must be a whole number")}
		}
	}
	return Page{min(max(size, 1), largest), query.Get("after")}, nil
}

// PageOf returns a page of a list. Items of one name keep their order.
func PageOf[T any](all []T, page Page, name func(*T) string) api.Page[T] {
	slices.SortStableFunc(all, func(a, b T) int { return strings.Compare(name(&a), name(&b)) })
	all = slices.DeleteFunc(all, func(item T) bool { return page.Previous != "" && name(&item) <= page.Previous })
	for i := page.Size; i < len(all); i++ {
		if last := name(&all[i-1]); name(&all[i]) != last {
			return api.Page[T]{Items: all[:i], Next: last}
		}
	}
	return api.List(all)
}
