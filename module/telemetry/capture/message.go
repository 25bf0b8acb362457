package capture

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// message is a request or an answer. It is guarded by the lock of its exchange.
type message struct {
	exchange     *Exchange
	begun        time.Time // zero before it begins
	method, path string    // of a request
	status       int       // of an answer
	headers      [][2]string
	body         []byte
	size         int64 // of the whole body, of which body is the beginning
	chunks       []chunk
}

// chunk is a part of a body that was sent or received at once.
type chunk struct {
	moved time.Time
	size  int
}

// begin sets what comes before the body.
func (m *message) begin(moment time.Time, method, path string, status int, h http.Header) {
	m.exchange.mu.Lock()
	defer m.exchange.mu.Unlock()
	m.begun, m.method, m.path, m.status = moment, method, path, status
	for name, values := range h {
		if !listed(name) {
			continue
		}
		for _, value := range values {
			m.headers = append(m.headers, [2]string{name, value})
		}
	}
	slices.SortFunc(m.headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
}

// headers are the names of the headers that captures contain. None has a credential, or
// describes the account of the operator.
var headers = map[string]bool{
	"Accept": true, "Allow": true, "Cache-Control": true, "Content-Encoding": true, "Content-Length": true, "Content-Type": true, "User-Agent": true,
	"Anthropic-Beta": true, "Anthropic-Version": true, "Openai-Beta": true, "Request-Id": true, "X-Request-Id": true,
	"Retry-After": true, "Retry-After-Ms": true, "Openai-Poll-After-Ms": true, "X-Should-Retry": true, "X-Content-Type-Options": true,
}

// listed reports whether captures contain a header. Headers of the gateway begin with
// X-Gateway-.
func listed(name string) bool {
	return headers[name] || strings.HasPrefix(name, "X-Gateway-") && name != Header
}

// Write adds a part of the body. It never fails.
func (m *message) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	m.exchange.mu.Lock()
	defer m.exchange.mu.Unlock()
	m.size += int64(len(p))
	if len(m.chunks) < mostChunks {
		m.chunks = append(m.chunks, chunk{time.Now(), len(p)})
	} else {
		m.chunks[mostChunks-1].size += len(p)
	}
	kept := p[:min(len(p), mostOfBody-len(m.body), m.exchange.room)]
	m.body = append(m.body, kept...)
	m.exchange.room -= len(kept)
	return len(p), nil
}
