package reports

import (
	"encoding/json"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
)

// jsonLines is an answer with all items of a list, each as JSON in a line of its own.
type jsonLines[T any] struct {
	first  []T
	next   func() ([]T, error) // reads the following items; none at the end
	failed func(error)
}

// Write implements answer.Written. If items cannot be read, it aborts the connection, so that the
// client cannot mistake the previous ones for the whole list.
func (l jsonLines[T]) Write(w http.ResponseWriter) {
	answer.WriteHeader(w, "application/jsonl", "no-store")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for items := l.first; len(items) > 0; {
		for i := range items {
			if encoder.Encode(&items[i]) != nil {
				return // the client has left
			}
		}
		var err error
		if items, err = l.next(); err != nil {
			l.failed(err)
			panic(http.ErrAbortHandler)
		}
	}
}
