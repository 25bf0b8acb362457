package gatewaytest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
)

// Provider is the engine of the demo provider behind a socket on 127.0.0.1. It records all
// requests in its Ledger, and answers each with the next step that a test has scripted.
// Without a step, the engine answers.
type Provider struct {
	*Ledger
	// URL is "http://127.0.0.1:port", without a path.
	URL string
	// Header contains headers of every answer. Set them before the first request.
	Header http.Header

	engine *demo.Engine
	server *httptest.Server
	script script
}

// NewProvider starts a provider that stops at the end of the test. The engine is strict and
// does not pause, unless options change that.
func NewProvider(t testing.TB, options ...demo.Option) *Provider {
	t.Helper()
	p := newProvider(options)
	p.server = p.listen(t)
	p.server.Start()
	p.URL = p.server.URL
	t.Cleanup(p.close)
	return p
}

// NewTLSProvider is NewProvider with TLS and HTTP/2. Clients must trust Certificate.
func NewTLSProvider(t testing.TB, options ...demo.Option) *Provider {
	t.Helper()
	p := newProvider(options)
	p.server = p.listen(t)
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	p.URL = p.server.URL
	t.Cleanup(p.close)
	return p
}

// listen returns the server of the provider, which has not started.
func (p *Provider) listen(t testing.TB) *httptest.Server {
	return &httptest.Server{Listener: listen(t), Config: &http.Server{Handler: http.HandlerFunc(p.serve)}}
}

func newProvider(options []demo.Option) *Provider {
	defaults := []demo.Option{demo.WithPace(0), demo.WithStrict(true)}
	return &Provider{
		Ledger: newLedger(),
		Header: make(http.Header),
		engine: demo.New(append(defaults, options...)...),
	}
}

// Certificate returns the certificate of a TLS provider in DER form.
func (p *Provider) Certificate() []byte { return p.server.Certificate().Raw }

// Address returns the host and port, for the word "to" of a Caddyfile.
func (p *Provider) Address() string { return p.server.Listener.Addr().String() }

// Script adds steps for the next requests, one for each. They take precedence over the
// step of Always.
func (p *Provider) Script(steps ...Step) { p.script.add(steps) }

// Always sets the step of all requests without a step of Script. With nil, the engine
// answers again.
func (p *Provider) Always(step Step) { p.script.always(step) }

// close breaks running answers off, so that no test hangs at its end.
func (p *Provider) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	// A test that has waited for a request sends the next one: the step of the first must
	// be taken before anybody can see that it has arrived.
	step := p.script.next()
	entry := p.receive(r)
	completed := false
	defer func() { p.settle(entry, r, completed) }()
	maps.Copy(w.Header(), p.Header)
	if step == nil {
		step = Answer()
	}
	step(&Call{ResponseWriter: w, Request: r, Engine: p.engine})
	completed = true
}
