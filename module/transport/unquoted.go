package transport

import (
	"io"
	"net/http"
	"strings"
)

// carry sends a request by the inner transport. Its error is logged, so it must not quote
// the provider's answer: net/http quotes lines of malformed headers, which may contain a
// credential or a prompt.
func (t *Transport) carry(req *http.Request) (*http.Response, error) {
	filterStdLog()
	res, err := t.inner.RoundTrip(req)
	if err != nil {
		return nil, unquoted{err}
	}
	return res, nil
}

// unquoted is an error of net/http whose text ends before the first quotation mark. The text
// up to there describes the error.
type unquoted struct{ error }

func (e unquoted) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), `"`)
	return strings.TrimRight(text, " :=")
}

func (e unquoted) Unwrap() error { return e.error }

// unquotedBody is the body of an answer whose errors do not quote it: net/http also quotes
// malformed trailers.
type unquotedBody struct{ io.ReadCloser }

func (b *unquotedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = unquoted{err}
	}
	return n, err
}
