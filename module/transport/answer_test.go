package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Answers are in leased memory, so a release that comes too early would show one client the
// answer of another.
func TestAnAnswerKeepsItsMemoryUntilItIsClosed(t *testing.T) {
	transport := newTransport(answers(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		text := body[strings.Index(string(body), "<") : strings.Index(string(body), ">")+1]
		answer := strings.Replace(answer, "hi", string(text), 1)
		return responds(http.StatusOK, "application/json", io.NopCloser(strings.NewReader(answer))), err
	}))
	for format, request := range map[translate.Format]string{
		translate.Chat:        `{"model":"m","messages":[{"role":"user","content":"%s"}]}`, // as it is
		translate.Completions: `{"model":"m","prompt":"%s"}`,
		translate.Messages:    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"%s"}]}`,
	} {
		var clients sync.WaitGroup
		for client := range 8 {
			clients.Go(func() {
				for n := range 20 {
					texts := make([]string, 3)
					open := make([]io.ReadCloser, len(texts))
					for i := range texts {
						texts[i] = fmt.Sprintf("<%d %d %d%s>", client, n, i, strings.Repeat(" x", client*n))
						open[i] = answerTo(t, transport, format, fmt.Sprintf(request, texts[i]))
					}
					for i, answer := range open {
						got, err := io.ReadAll(answer)
						assert.NoError(t, err)
						assert.Contains(t, string(got), texts[i], format)
						assert.NoError(t, answer.Close())
						assert.NoError(t, answer.Close(), "a second time")
						rest, _ := io.ReadAll(answer)
						assert.Empty(t, rest, "behind the close")
					}
				}
			})
		}
		clients.Wait()
	}
}

// answerTo returns the body of the answer to a request.
func answerTo(t *testing.T, transport *Transport, format translate.Format, request string) io.ReadCloser {
	t.Helper()
	ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(format), Client: http.Header{}, Body: []byte(request)}}
	view, fault := ex.Request.Format.Requests.Inspect(ex.Request.Body, translate.Generate)
	assert.Nil(t, fault)
	ex.Request.View = view
	c := &exchange.Conduit{Attempt: exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(translate.Chat), Model: "m", Traits: new(trait.Traits)}}
	res, err := transport.RoundTrip((&http.Request{Method: http.MethodPost, URL: new(url.URL)}).WithContext(exchange.WithConduit(context.Background(), c)))
	assert.NoError(t, err)
	return res.Body
}
