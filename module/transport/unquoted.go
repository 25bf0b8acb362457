package transport

import (
	"io"
	"net/http"
	"strings"
)

// carry sends a request with the inner transport. Its error quotes nothing of the
// provider's answer: it ends in logs, and what net/http cannot read of a head, and
// repeats, may be a credential or a text.
func (t *Transport) carry(req *http.Request) (*http.Response, error) {
	filterStdLog()
	res, err := t.inner.RoundTrip(req)
	if err != nil {
		return nil, unquoted{err}
	}
	return res, nil
}

// unquoted is an error of net/http without what it quotes: the text up to the
// first quotation mark, which says what is wrong with the answer.
type unquoted struct{ error }

func (e unquoted) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), `"`)
	return strings.TrimRight(text, " :=")
}

func (e unquoted) Unwrap() error { return e.error }

// unquotedBody is the body of an answer, whose errors quote nothing of it either: a
// trailer can be as malformed as a head.
type unquotedBody struct{ io.ReadCloser }

func (b *unquotedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = unquoted{err}
	}
	return n, err
}
