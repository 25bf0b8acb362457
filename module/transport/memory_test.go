package transport

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// longAttempt returns an attempt at a stream with a request of more bytes than length.
func longAttempt(t *testing.T, provider translate.Format, length int) *exchange.Attempt {
	t.Helper()
	lease := exchange.NewLease()
	body := append(lease.Buffer(), `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"`...)
	body = append(body, strings.Repeat("x", length)+`"}]}`...)
	lease.Keep(body)
	view, fault := formats.Of(translate.Messages).Requests.Inspect(body, translate.Generate)
	require.Nil(t, fault)
	ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Messages), Body: body, Lease: lease, View: view, Client: http.Header{}}}
	return &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(provider), Model: "another", Traits: new(trait.Traits)}
}

// An open stream kept its request in memory, a translated one twice, and the buffer for its
// beginning: net/http keeps a request until the end of its answer, and a cursor kept the
// last event that it had read. Later, streams that began together kept those requests that
// were small enough for the pool: net/http kept their leases.
func TestAnOpenStreamHoldsLittle(t *testing.T) {
	const streams = 30
	const messagesBegin = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n"
	const messagesDelta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n"
	for format, test := range map[translate.Format]struct {
		events [2]string
		limit  int64 // bytes of a stream
	}{
		translate.Messages: {[2]string{messagesBegin, messagesDelta}, 13 << 9}, // as they are
		translate.Chat:     {[2]string{chunkText, chunkText}, 12 << 10},
	} {
		t.Run(string(format), func(t *testing.T) {
			var requests []*http.Request // as net/http keeps them
			transport := newTransport(answers(func(r *http.Request) (*http.Response, error) {
				_, err := io.Copy(io.Discard, r.Body)
				require.NoError(t, err)
				require.NoError(t, r.Body.Close())
				requests = append(requests, r)
				return responds(http.StatusOK, "text/event-stream", then(test.events[0], then(test.events[1], silent{r.Context()}))), nil
			}))
			var attempts []*exchange.Attempt // at the same time, so that none has the memory of another
			var open []*http.Response
			buf := make([]byte, 4<<10) // may contain the last event
			before := heapInUse()
			for i := range streams {
				attempts = append(attempts, longAttempt(t, format, 300<<10<<(i%2*2))) // below and above the size of the pool
			}
			for _, a := range attempts {
				r := (&http.Request{URL: new(url.URL)}).WithContext(exchange.WithConduit(context.Background(), &exchange.Conduit{Attempt: *a}))
				res, err := transport.RoundTrip(r)
				require.NoError(t, err)
				for range test.events {
					_, err = res.Body.Read(buf)
					require.NoError(t, err)
				}
				a.Exchange.Request.DropBody()
				open = append(open, res)
			}
			assert.Less(t, (heapInUse()-before)/streams, test.limit)
			for i, res := range open {
				require.NotNil(t, requests[i].GetBody)
				require.NoError(t, res.Body.Close())
			}
		})
	}
}

// heapInUse is how many bytes of the heap are in use.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // a sync.Pool is empty after the second collection
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
