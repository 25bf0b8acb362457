package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// Server is a server in use.
type Server struct {
	Config *Config

	client     *http.Client
	credential atomic.Pointer[string] // nil for none
	sent       []string               // the headers of clients that the server gets
	received   []string               // the headers of answers that clients get
	exchange   *exchanger             // nil if all clients have the same credential
	pins       *pins                  // nil for none
}

// Load prepares the server of a configuration.
func Load(ctx caddy.Context, c *Config) (*Server, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	carrier := http.DefaultTransport.(*http.Transport).Clone()
	carrier.ResponseHeaderTimeout = cmp.Or(time.Duration(c.Timeout), defaultTimeout)
	carrier.DisableCompression = true
	ctx.OnCancel(carrier.CloseIdleConnections)
	s := &Server{Config: c, client: outbound.Client(0, carrier), sent: slices.Concat(sent, c.own()), received: slices.Concat(received, c.own())}
	s.pins = newPins(c, ctx.Storage(), ctx.Logger())
	switch {
	case c.Auth == nil:
		return s, nil
	case c.Auth.Exchange != nil:
		var err error
		s.exchange, err = newExchanger(ctx, c.Auth.Exchange, c.Address)
		return s, err
	}
	return s, secrets.Follow(ctx, c.Auth.Secret, ctx.Logger(), s.setCredential)
}

var errCredential = errors.New("auth: the credential has characters that no header has")

func (s *Server) setCredential(secret aigateway.Secret) error {
	value := s.valueOf(string(secret))
	if !httpguts.ValidHeaderFieldValue(value) {
		return errCredential
	}
	s.credential.Store(&value)
	return nil
}

// valueOf returns the value of the header of a credential.
func (s *Server) valueOf(credential string) string {
	if s.header() == authorization && !strings.Contains(credential, " ") {
		return "Bearer " + credential
	}
	return credential
}

const authorization = "Authorization"

// header returns the header of the credential.
func (s *Server) header() string { return cmp.Or(s.Config.Auth.Header, authorization) }

// Name returns the name of the server.
func (s *Server) Name() string { return s.Config.Name }

// Request is a request of a client.
type Request struct {
	Method  string // of HTTP
	Header  http.Header
	Body    []byte       // nil for none
	Message *mcp.Message // in the body; nil for none
	Session string       // of the server; "" for none
	Caller  Caller
}

// Send sends a request to the server. It ends with ctx, and so does the reading of the answer. The error is
// ErrNoCaller or a RefusedError if nothing was sent because of the client.
func (s *Server) Send(ctx context.Context, r Request) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, s.Config.Address, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("building request: %w", err)
	}
	request.Header = s.outgoing(r.Header)
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Session != "" {
		request.Header.Set(mcp.SessionHeader, r.Session)
	}
	if r.Message != nil && mcp.IsStateless(r.Header.Get(mcp.VersionHeader)) {
		for _, pair := range r.Message.Named() {
			request.Header.Set(pair[0], pair[1])
		}
	}
	if credential := s.credential.Load(); credential != nil {
		request.Header.Set(s.header(), *credential)
	}
	if identity := s.Config.Caller; identity != nil {
		if err := identity.set(request.Header, r.Caller); err != nil {
			return nil, err
		}
	}
	if s.exchange != nil {
		token, err := s.exchange.token(ctx, r.Caller.Token)
		if err != nil {
			return nil, err
		}
		request.Header.Set(s.header(), s.valueOf(token))
	}
	res, err := s.client.Do(request)
	if err == nil && res.StatusCode == http.StatusUnauthorized && s.exchange != nil { // a token that was revoked
		s.exchange.forget(r.Caller.Token)
	}
	return res, err
}

// MessageLimit returns the length of the longest message of a client, in bytes.
func (s *Server) MessageLimit() int64 { return cmp.Or(s.Config.MaxBody, defaultMaxBody) }

// AnswerLimit returns the length of the longest message of the server, in bytes.
func (s *Server) AnswerLimit() int64 { return cmp.Or(s.Config.MaxAnswer, defaultMaxAnswer) }

var errTooLong = errors.New("a message of the server is longer than max_answer")

// IsUnusable reports whether an error of ReadAll or of Events is about a message that has arrived, and not
// about the connection.
func IsUnusable(err error) bool { return errors.Is(err, errTooLong) || errors.Is(err, errLineEnd) }

// ReadAll returns the body of an answer that is one message. The error of one that is too long is
// unusable.
func (s *Server) ReadAll(body io.Reader) ([]byte, error) {
	whole, err := io.ReadAll(io.LimitReader(body, s.AnswerLimit()+1))
	if err == nil && int64(len(whole)) > s.AnswerLimit() {
		err = errTooLong
	}
	return whole, err
}

// Events returns a reader of the events of a stream.
func (s *Server) Events(stream io.Reader) *Events {
	return &Events{stream: stream, most: int(s.AnswerLimit())}
}
