package upstream

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// stalled is a transport whose answers are streams of one event, which then wait.
type stalled struct {
	http.RoundTripper // for queries, of which there are none

	waiting sync.WaitGroup // for all answers to wait
	ended   chan struct{}
}

func (s *stalled) Ask(context.Context, *exchange.Conduit) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1,
		Body: &stalledBody{begin: strings.NewReader("event: x\ndata: {}\n\n"), stalled: s},
	}, nil
}

type stalledBody struct {
	*stalled
	begin *strings.Reader
}

func (b *stalledBody) Read(p []byte) (int, error) {
	if n, _ := b.begin.Read(p); n > 0 {
		return n, nil
	}
	b.waiting.Done()
	<-b.ended
	return 0, io.EOF
}

func (*stalledBody) Close() error { return nil }

// A stream kept the body of the request until its end, hours later, although no other
// target could be asked.
func TestAnOpenStreamHoldsLittle(t *testing.T) {
	const streams = 30
	inner := &stalled{ended: make(chan struct{})}
	inner.waiting.Add(streams)
	caller := &direct{inner}
	var running sync.WaitGroup
	before := memoryInUse()
	for range streams {
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: translate.View{Stream: true}, Lease: exchange.NewLease()}}
		ex.Request.Lease.Keep(make([]byte, 2<<20)) // too large for the pool
		ex.Request.Body = ex.Request.Lease.Buffer()[:2<<20]
		s := new(sink.Sink)
		s.Init(httptest.NewRecorder(), ex)
		c := &exchange.Conduit{Attempt: exchange.Attempt{Exchange: ex}}
		ex.Course.Begin(c, 0)
		s.Next()
		running.Go(func() { assert.NoError(t, caller.Call(t.Context(), c, s, nil)) })
	}
	inner.waiting.Wait()
	assert.Less(t, (memoryInUse()-before)/streams, int64(16<<10), "bytes of heap and stack")
	close(inner.ended)
	running.Wait()
}

// memoryInUse is how many bytes of heap and stacks are in use.
func memoryInUse() int64 {
	runtime.GC()
	runtime.GC() // a sync.Pool is empty after the second collection
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}
