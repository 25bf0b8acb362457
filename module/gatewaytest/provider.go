package gatewaytest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
)

// Provider is the demo provider's engine behind a socket on 127.0.0.1. It
// keeps a Ledger of all that it received and carries out the steps that a test
// has scripted, one a request; without a step the engine answers.
type Provider struct {
	*Ledger
	// URL is the address, "http://127.0.0.1:port" without a path.
	URL string
	// Header is set on every answer; to be filled before the first request.
	Header http.Header

	engine *demo.Engine
	server *httptest.Server
	script script
}

// NewProvider starts a provider that ends with the test. The engine is strict
// and not paced; options change that.
func NewProvider(t testing.TB, options ...demo.Option) *Provider {
	t.Helper()
	p := newProvider(options)
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	p.URL = p.server.URL
	t.Cleanup(p.close)
	return p
}

// NewTLSProvider is NewProvider with TLS and HTTP/2. Clients need to trust
// Certificate.
func NewTLSProvider(t testing.TB, options ...demo.Option) *Provider {
	t.Helper()
	p := newProvider(options)
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	p.URL = p.server.URL
	t.Cleanup(p.close)
	return p
}

func newProvider(options []demo.Option) *Provider {
	defaults := []demo.Option{demo.WithPace(0), demo.WithStrict(true)}
	return &Provider{
		Ledger: newLedger(),
		Header: make(http.Header),
		engine: demo.New(append(defaults, options...)...),
	}
}

// Certificate is the certificate of a TLS provider in DER form.
func (p *Provider) Certificate() []byte { return p.server.Certificate().Raw }

// Address is the host and port, as a Caddyfile's "to" wants it.
func (p *Provider) Address() string { return p.server.Listener.Addr().String() }

// Script sets the steps of the next requests, one each, before what was
// scripted by Always. It adds to the steps that are still to come.
func (p *Provider) Script(steps ...Step) { p.script.add(steps) }

// Always sets the step of every request that has none by Script; nil lets the
// engine answer again.
func (p *Provider) Always(step Step) { p.script.always(step) }

// close breaks off what is still running, so that no test hangs at its end.
func (p *Provider) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	entry := p.receive(r)
	completed := false
	defer func() { p.settle(entry, r, completed) }()
	for name, values := range p.Header {
		w.Header()[name] = values
	}
	step := p.script.next()
	if step == nil {
		step = Answer()
	}
	step(&Call{ResponseWriter: w, Request: r, Engine: p.engine})
	completed = true
}
