package capture

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// The bounds of an Exchange, in bytes of bodies.
const (
	mostOfBody = 1 << 20
	mostOfAll  = 4 << 20
	mostCalls  = 16   // of providers
	mostChunks = 8192 // of a body
)

// Exchange is the capture of an exchange. Several goroutines may write and read it.
type Exchange struct {
	owner Owner
	id    string
	start time.Time

	mu      sync.Mutex // guards what follows, calls included
	ended   time.Time
	summary map[string]any
	room    int // bytes that all bodies may still take
	request *message
	answer  *message
	calls   []*call
}

// call is the capture of a request to a provider.
type call struct {
	Target
	request *message
	answer  *message
	hide    func(status int, body []byte) []byte
}

// Target is what a call was sent to.
type Target struct {
	Provider string `json:"provider"`       // name in the configuration
	Model    string `json:"upstream_model"` // the provider's own name
	Format   string `json:"format"`
}

func newExchange(owner Owner, id string, start time.Time) *Exchange {
	ex := &Exchange{owner: owner, id: id, start: start, room: mostOfAll}
	ex.request, ex.answer = &message{exchange: ex}, &message{exchange: ex}
	return ex
}

func (ex *Exchange) isOld() bool { return time.Since(ex.start) >= lifetime }

// Request adds the body of the client's request, after its decoding.
func (ex *Exchange) Request(body []byte) {
	_, _ = ex.request.Write(body)
}

// Answer returns a writer to the client that adds what is written to it.
func (ex *Exchange) Answer(w http.ResponseWriter) http.ResponseWriter {
	return &answerWriter{w, ex.answer}
}

// answerWriter captures the answer to a client.
type answerWriter struct {
	http.ResponseWriter
	answer *message
}

// Unwrap lets an http.ResponseController find the methods of the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader adds the status and the headers.
func (w *answerWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.answer.begin(time.Now(), "", "", status, w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write adds a part of the body.
func (w *answerWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	_, _ = w.answer.Write(p[:n])
	return n, err
}

// End adds what else is known of the exchange at its end.
func (ex *Exchange) End(summary map[string]any) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.ended, ex.summary = time.Now(), summary
}

// Call adds a request to a provider with its body. hide is called when the answer is read: it
// returns the body without what clients must not read. The returned function adds the answer, and
// returns its body, which adds what is read from it. If there are too many calls, nothing is added.
func (ex *Exchange) Call(provider, model, format string, r *http.Request, body io.WriterTo, hide func(status int, body []byte) []byte) func(*http.Response) io.ReadCloser {
	c := &call{Target: Target{provider, model, format}, hide: hide, request: &message{exchange: ex}, answer: &message{exchange: ex}}
	ex.mu.Lock()
	full := len(ex.calls) >= mostCalls
	if !full {
		ex.calls = append(ex.calls, c)
	}
	ex.mu.Unlock()
	if full {
		return func(res *http.Response) io.ReadCloser { return res.Body }
	}
	c.request.begin(time.Now(), r.Method, r.URL.EscapedPath(), 0, r.Header)
	_, _ = body.WriteTo(c.request)
	return c.read
}

// read adds the status and the headers of an answer, and returns its body, which adds what
// is read from it.
func (c *call) read(res *http.Response) io.ReadCloser {
	c.answer.begin(time.Now(), "", "", res.StatusCode, res.Header)
	return &bodyReader{res.Body, c.answer}
}

// bodyReader captures the body of an answer.
type bodyReader struct {
	io.ReadCloser
	answer *message
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	_, _ = b.answer.Write(p[:n])
	return n, err
}
