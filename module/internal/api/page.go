// Package api contains the answers of the API below /api/v1/ that more than one package writes or
// reads: the gateway and its accounts encode them, and the commands decode the same types. Answers
// of one package are beside what makes them.
//
// They are values without behavior, so that a command needs nothing of the server to read them.
// The document of the API, accounts/openapi.json, describes each of them; a test compares.
package api

// Page is a page of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`            // selects the following page; "" on the last one
	Total *int   `json:"total,omitempty"` // the items of all pages, if their number is known
}

// List returns a list that has one page.
func List[T any](items []T) Page[T] { return Page[T]{Items: append([]T{}, items...)} }

// LedgerPage is a page of a list of the ledger.
type LedgerPage[T any] struct {
	Page[T]
	Lag *int64 `json:"behind_seconds"` // the ledger is so many seconds behind; null if that is not known
}
