package exchange

import (
	"context"
	"io"
	"net/http"
)

// Passage is a request for an endpoint of a provider that is passed on as it is. The transport sets
// the result of its conduit.
type Passage struct {
	Conduit
	Method   string
	Path     string // below the base URL, with escapes
	Query    string
	Header   http.Header // without a credential
	Body     io.ReadCloser
	Length   int64    // of the body, -1 if it is unknown
	Unsealed bool     // the answer is what a client has stored, in which no id is replaced
	Lines    bool     // the answer has a JSON document in each line
	Incoming []string // the headers of the answer, in canonical form, that the client gets
}

type passageKey struct{}

// WithPassage returns a context with p.
func WithPassage(ctx context.Context, p *Passage) context.Context {
	return context.WithValue(ctx, passageKey{}, p)
}

// PassageFrom returns the passage in ctx, nil if there is none.
func PassageFrom(ctx context.Context) *Passage {
	p, _ := ctx.Value(passageKey{}).(*Passage)
	return p
}
