package request

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Piece is a piece of a file, which is read from the client as it is read by the provider.
type Piece struct {
	body   io.Reader
	length int64
	tap    Tap // nil if nobody reads the file

	read     int64
	requests atomic.Pointer[exchange.Requests]
}

// Tap reads a file on its way to the provider. A fault ends the request: the provider gets no byte that the
// Tap has refused.
type Tap interface {
	Add(p []byte) *fault.Fault
	// End returns what is known of the requests in the file behind its last byte; nil if it has none.
	End() (*exchange.Requests, *fault.Fault)
}

// NewPiece returns the body of a request as a piece of at most limit bytes, which tap reads, too; nil for none. It
// reads none of it.
func NewPiece(r *http.Request, limit int64, tap Tap) *Piece {
	return &Piece{body: http.MaxBytesReader(nil, r.Body, limit), length: r.ContentLength, tap: tap}
}

// Read implements exchange.Upload. Its error is io.EOF at the end, else a *fault.Fault.
func (p *Piece) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	p.read += int64(n)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		err = fault.BodyTooLarge(large.Limit)
	//lint:ignore errorlint a body that is cut off has an error that may wrap io.EOF
	case err != nil && err != io.EOF:
		err = fault.BodyUnreadable(err)
	case p.tap != nil: // err is nil or io.EOF
		if refused := p.show(b[:n], err != nil || p.read == p.length); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// show shows bytes to the tap. Nobody may read behind the last one of a body of a known length.
func (p *Piece) show(b []byte, last bool) *fault.Fault {
	if refused := p.tap.Add(b); refused != nil || !last || p.requests.Load() != nil {
		return refused
	}
	requests, refused := p.tap.End()
	p.requests.Store(requests)
	return refused
}

// End shows the end of the file to the tap behind a piece without bytes, which the provider does not read.
func (p *Piece) End() *fault.Fault { return p.show(nil, true) }

// ContentType implements exchange.Upload.
func (*Piece) ContentType() string { return "application/octet-stream" }

// Length implements exchange.Upload.
func (p *Piece) Length() int64 { return p.length }

// Requests implements exchange.Upload.
func (p *Piece) Requests() *exchange.Requests { return p.requests.Load() }
