package request

import (
	"errors"
	"io"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Piece is a piece of a file, which is read from the client as it is read by the provider.
type Piece struct {
	body   io.Reader
	length int64
}

// NewPiece returns the body of a request as a piece of at most limit bytes. It reads none of it.
func NewPiece(r *http.Request, limit int64) *Piece {
	return &Piece{http.MaxBytesReader(nil, r.Body, limit), r.ContentLength}
}

// Read implements exchange.Upload. Its error is io.EOF at the end, else a *fault.Fault.
func (p *Piece) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		err = fault.BodyTooLarge(large.Limit)
	case err != nil && err != io.EOF: //nolint:errorlint // a body that is cut off has an error that may wrap io.EOF
		err = fault.BodyUnreadable(err)
	}
	return n, err
}

// ContentType implements exchange.Upload.
func (*Piece) ContentType() string { return "application/octet-stream" }

// Length implements exchange.Upload.
func (p *Piece) Length() int64 { return p.length }

// Requests implements exchange.Upload.
func (*Piece) Requests() *exchange.Requests { return nil }
