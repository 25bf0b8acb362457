package figures_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// protocols are the versions of HTTP that clients use.
var protocols = map[string]bool{"HTTP/1.1": false, "HTTP/2": true}

// options are the global options of every gateway here.
const options = "servers {\nprotocols h1 h2c\n}\n"

// open is a stream that a client reads.
type open struct {
	*http.Response
	path   string
	reader *bufio.Reader
	begin  string // what was read of it
	leave  context.CancelFunc
}

// openStream asks for a stream, and reads it up to its first text.
func openStream(t *testing.T, c *http.Client, p *site.Process, path, model string) *open {
	ctx, leave := context.WithTimeout(context.Background(), 5*site.Patience)
	t.Cleanup(leave)
	response, err := c.Do(site.NewRequest(ctx, t, "http://"+p.Address, path, site.BodyFor(path, model, "hello", true)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(t, http.StatusOK, response.StatusCode)
	o := &open{Response: response, path: path, reader: bufio.NewReader(response.Body), leave: leave}
	for !strings.Contains(o.begin, `"Hi"`) {
		line, err := o.reader.ReadString('\n')
		require.NoError(t, err)
		o.begin += line
	}
	return o
}

// openStreams opens n streams of all formats, a few at once.
func openStreams(t *testing.T, c *http.Client, p *site.Process, n int) []*open {
	list := make([]*open, n)
	var running sync.WaitGroup
	turns := make(chan struct{}, 16)
	for i := range list {
		running.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			list[i] = openStream(t, c, p, site.ClientPaths[i%len(site.ClientPaths)], "m")
		})
	}
	running.Wait()
	return list
}

// rest reads the stream to its end.
func (o *open) rest() site.Reply {
	raw, err := io.ReadAll(o.reader)
	return site.Reply{Status: o.StatusCode, Header: o.Header, Body: o.begin + string(raw), Err: err}
}

// assertWhole reads all streams at once, and checks that each is whole.
func assertWhole(t *testing.T, list []*open) {
	t.Helper()
	var running sync.WaitGroup
	for _, o := range list {
		running.Go(func() {
			want := site.WithoutKeepAlives(o.path, strings.Join(site.Streams[o.path], ""))
			assert.Equal(t, want, site.WithoutKeepAlives(o.path, o.rest().Body))
		})
	}
	running.Wait()
}
