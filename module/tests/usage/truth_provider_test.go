package usage_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// ending is how a call ends after its parts.
type ending uint8

const (
	whole   ending = iota
	reset          // the connection breaks off
	failure        // the provider sends an error event
	hold           // the provider waits until the caller leaves
)

// script is what a provider does with one call.
type script struct {
	status  int           // of an error answer; 0 for an answer
	hangup  bool          // the connection ends before the headers
	after   chan struct{} // the call waits until it is closed; nil for no wait
	claim   usage         // what the call has used
	silent  bool          // the provider does not report the usage
	parts   []part
	ending  ending
	outside []event // events between the parts that are no text
}

// note is what a provider notes about one call.
type note struct {
	provider string
	script   *script
}

// provider is the server of all providers. It answers the calls for a model by the scripts
// of the exchange with that model, one after the other.
type provider struct {
	*httptest.Server
	t testing.TB

	mu        sync.Mutex // guards the exchanges' notes
	exchanges map[string]*exchange
}

func newProvider(t testing.TB, exchanges []*exchange) *provider {
	p := &provider{t: t, exchanges: make(map[string]*exchange)}
	for _, x := range exchanges {
		p.exchanges[x.model] = x
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// ServeHTTP answers a call at /<provider>/v1/<endpoint>.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var asked struct {
		Model  string
		Stream bool
	}
	if err != nil || !assert.NoError(p.t, json.Unmarshal(body, &asked), string(body)) {
		return
	}
	name, endpoint, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if _, named, ok := strings.Cut(endpoint, "models/"); ok { // the path has what the body has in other formats
		asked.Model, _, _ = strings.Cut(named, ":")
		asked.Stream = strings.HasSuffix(named, ":streamGenerateContent")
	}
	endpoint = site.Called("/" + endpoint)
	s := p.take(name, asked.Model)
	if s == nil {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		return
	}
	if s.after != nil {
		select {
		case <-s.after:
		case <-r.Context().Done():
			return
		}
	}
	format := writers[endpoint]
	switch {
	case s.hangup:
		panic(http.ErrAbortHandler)
	case s.status != 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, refusals[endpoint])
	case asked.Stream:
		s.stream(w, r, format)
	default:
		s.answer(w, r, format)
	}
}

// take returns the script of the next call of an exchange, and notes the call.
func (p *provider) take(name, model string) *script {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.exchanges[model]
	if !assert.NotNil(p.t, x, model) {
		return nil
	}
	scripts := x.scripts[name]
	if !assert.NotEmpty(p.t, scripts, "%s asks %s", model, name) {
		return nil
	}
	s := scripts[min(x.taken[name], len(scripts)-1)]
	x.taken[name]++
	x.notes = append(x.notes, note{name, s})
	return s
}

// answer writes a JSON answer.
func (s *script) answer(w http.ResponseWriter, r *http.Request, format writer) {
	body := encoded(format.answer(s.parts, s.reported()))
	w.Header().Set("Content-Type", "application/json")
	if s.ending != whole {
		body = body[:len(body)/2]
	}
	_, _ = io.WriteString(w, body)
	s.finish(w, r)
}

// stream writes a stream, a few events at a time, as networks do. The last piece of text and
// the end come together, so that the gateway has read the usage of a short answer when the
// client has its text.
func (s *script) stream(w http.ResponseWriter, r *http.Request, format writer) {
	w.Header().Set("Content-Type", "text/event-stream")
	write := func(events []event) {
		var b strings.Builder
		for _, e := range events {
			b.WriteString(e.String())
		}
		_, _ = io.WriteString(w, b.String())
		_ = http.NewResponseController(w).Flush()
	}
	events := format.begin(s.reported())
	for i, p := range s.parts {
		events = append(events, format.deltas(i, p)...)
	}
	last := min(2, len(events)) // a piece and, in most formats, its end
	for some := range slices.Chunk(events[:len(events)-last], 7) {
		write(slices.Concat(some, s.outside))
	}
	events = events[len(events)-last:]
	switch s.ending {
	case whole:
		write(append(events, format.end(s.parts, s.reported())...))
	case failure:
		write(append(events[:last-format.partEnds], format.failure))
	default:
		write(events[:last-format.partEnds])
		s.finish(w, r)
	}
}

// finish ends an answer that is not whole.
func (s *script) finish(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	switch s.ending {
	case hold:
		<-r.Context().Done()
	case reset:
		panic(http.ErrAbortHandler)
	}
}

// reported returns the usage that the provider reports, nil for none.
func (s *script) reported() *usage {
	if s.silent {
		return nil
	}
	return &s.claim
}

// refusals are error answers by the endpoint.
var refusals = map[string]string{
	"/v1/messages":         `{"type":"error","error":{"type":"invalid_request_error","message":"refused"}}`,
	"/v1/chat/completions": `{"error":{"message":"refused","type":"invalid_request_error","param":null,"code":null}}`,
	"/v1/completions":      `{"error":{"message":"refused","type":"invalid_request_error","param":null,"code":null}}`,
	site.GeminiPath:        `{"error":{"code":400,"message":"refused","status":"INVALID_ARGUMENT"}}`,
	"/v1/responses":        `{"error":{"message":"refused","type":"invalid_request_error","param":null,"code":null}}`,
}
