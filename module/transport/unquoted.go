package transport

import (
	"io"
	"net/http"
	"strings"
)

// carry sends a request with the inner transport. Its error, which is logged, quotes
// nothing of the provider's answer: net/http quotes lines of a malformed head, which
// may hold a credential or a text.
func (t *Transport) carry(req *http.Request) (*http.Response, error) {
	filterStdLog()
	res, err := t.inner.RoundTrip(req)
	if err != nil {
		return nil, unquoted{err}
	}
	return res, nil
}

// unquoted is an error of net/http without what it quotes. The text up to the first
// quotation mark describes the error.
type unquoted struct{ error }

func (e unquoted) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), `"`)
	return strings.TrimRight(text, " :=")
}

func (e unquoted) Unwrap() error { return e.error }

// unquotedBody is the body of an answer whose errors quote nothing of it either: a
// trailer may be malformed, too.
type unquotedBody struct{ io.ReadCloser }

func (b *unquotedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = unquoted{err}
	}
	return n, err
}
