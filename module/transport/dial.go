package transport

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/connection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/duplex"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// maxDial is the longest time in which a provider answers the request for a WebSocket. It is shorter
// than clients wait, so that another provider can be asked.
const maxDial = 10 * time.Second

// maxRetryAfter bounds the time in seconds after which a provider lets clients try again.
const maxRetryAfter = 3600

var errDial = errors.New("no WebSocket within 10s")

// Dial opens a WebSocket to the endpoint of an attempt; see exchange.Caller. It agrees to no
// compression. The provider gets the listed headers of the client alone.
func (t *Transport) Dial(ctx context.Context, a *exchange.Attempt) (*exchange.Socket, *fault.Fault) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxDial, errDial)
	defer cancel()
	hide := t.redactor(a, unproxied)
	ws, res, err := websocket.Dial(ctx, "http://provider/", &websocket.DialOptions{
		HTTPClient: outbound.Dialer(t.carrier.inner, func(r *http.Request) (*http.Request, error) { return t.dialRequest(a, r) }),
	})
	switch {
	case err == nil:
		leaks := func(text []byte) bool { return hide.leaks(string(text)) }
		return &exchange.Socket{Provider: a.Provider, APIKey: a.APIKey, SocketConn: duplex.New(ws, t.MaxEventBytes, leaks)}, nil
	case res != nil && res.StatusCode != http.StatusSwitchingProtocols:
		return nil, t.dialRefused(res, &hide)
	}
	f := callFault(connection.Unquoted(err))
	if cause := context.Cause(ctx); cause != nil {
		f = callFault(cause)
	}
	f.Redact(hide.secrets()...)
	return nil, f
}

// dialRefused returns the fault of a provider that has refused a WebSocket with an answer, of whose body
// the library leaves at most 1 KB. Clients go on with POST after a status that shows that it has none. A
// status 400 shows that unless it has a message: then the provider has read the request.
func (t *Transport) dialRefused(res *http.Response, hide *redactor) *fault.Fault {
	status := res.StatusCode
	if status == http.StatusForbidden {
		status = http.StatusUnauthorized // for the credential of the gateway
	}
	body, _ := io.ReadAll(res.Body) // what there is of it
	f := fault.Read(status, res.Header.Get("Content-Type"), body)
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUpgradeRequired, http.StatusNotImplemented, http.StatusOK:
		return fault.NoWebSocket()
	case http.StatusBadRequest:
		if !f.Quoted && f.Kind == fault.Invalid {
			return fault.NoWebSocket()
		}
	}
	if wait := (&exchange.Head{Header: res.Header}).RetryAfter(); wait > 0 {
		f.RetryAfter = int(math.Ceil(wait.Seconds()))
	}
	f.RetryAfter = min(f.RetryAfter, maxRetryAfter)
	hide.fault(f)
	return f
}

// dialRequest returns a request for a WebSocket with the address and the headers of an attempt.
func (t *Transport) dialRequest(a *exchange.Attempt, r *http.Request) (*http.Request, error) {
	credential, err := t.credentials.get(r.Context(), a.APIKey, "")
	if err != nil {
		return nil, err
	}
	h, address := t.service.head(a)
	if a.Format.Client.DialectOf(address.Operation) == nil {
		address.Operation = translate.Generate
	}
	delete(h, "Content-Type")
	delete(h, "Accept")
	maps.Copy(h, r.Header)
	path, query := a.Format.Provider.Call(address)
	request := t.outgoing(r.Context(), http.MethodGet, unproxied, h, credential)
	setAddress(request, path, query)
	connection.FilterLog()
	return request, nil
}
