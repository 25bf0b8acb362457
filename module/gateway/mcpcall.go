package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// call sends the request to the server, and the answer to the client.
func (u *mcpUse) call() {
	ex := u.to.Exchange
	ctx, cancel := u.h.drain.Bind(u.r.Context(), time.Duration(u.h.Deadline))
	u.to.Start(cancel, sink.Options{Passes: true})
	c := &exchange.Conduit{
		Attempt: exchange.Attempt{Exchange: ex, Provider: u.name(), Service: string(wire.Name), Format: ex.Format, Model: u.tool()},
		Started: time.Since(ex.Start),
	}
	u.to.Next(c, 0)
	ctx, span := tracing.StartCall(ctx, &c.Attempt)
	if err := u.exchange(ctx, &c.Result); err != nil && ctx.Err() == nil && c.Result.Fault == nil {
		c.Result.Fail(callFault(ctx, err))
	} else if cause := context.Cause(ctx); cause != nil && !c.Result.Whole() && u.r.Context().Err() == nil {
		c.Result.Fail(callFault(ctx, cause))
	}
	ex.End(c)
	span.End(c)
	if f := c.Result.Fault; f != nil && !c.Result.Whole() {
		u.logFailure(f, &c.Result)
		u.endStream(f, &c.Result)
		u.to.Fail(f)
		return
	}
	u.to.Abandon(ctx)
}

// logFailure logs why a call has failed, as failed attempts at providers are logged.
func (u *mcpUse) logFailure(f *fault.Fault, result *exchange.Result) {
	u.h.logger.Warn("attempt failed", zap.String("request_id", u.to.Exchange.ID), zap.String("provider", u.name()),
		zap.Int("upstream_status", result.Status), zap.NamedError("cause", f.Cause), zap.String("fault", f.LogMessage()))
}

// endStream ends a stream that has failed with an error as the answer to the request: without it, the client
// waits until its own timeout. A client that can resume the stream gets the answer there, and no error.
func (u *mcpUse) endStream(f *fault.Fault, result *exchange.Result) {
	if result.Began.IsZero() || u.resumable || !u.awaitsAnswer() {
		return
	}
	result.State = exchange.Relayed
	_, _ = u.to.Write(u.errorEvent(f))
	_ = u.to.FlushError()
}

// awaitsAnswer reports whether the message of the client has an answer.
func (u *mcpUse) awaitsAnswer() bool { return u.message != nil && u.message.IsRequest() }

// callFault returns the fault of a call without an answer.
func callFault(ctx context.Context, err error) *fault.Fault {
	var late net.Error
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, drain.ErrShuttingDown):
		return fault.ShuttingDown()
	case errors.Is(cause, drain.ErrDeadline), errors.As(err, &late) && late.Timeout():
		return fault.UpstreamTimeout(err)
	}
	return fault.Unreachable(err)
}

// exchange makes the call. An answer that cannot be passed on is a fault of the result.
func (u *mcpUse) exchange(ctx context.Context, result *exchange.Result) error {
	result.Called, result.Sent = time.Now(), true
	res, err := u.Send(ctx, mcp.Request{Method: u.r.Method, Header: u.headers(), Body: u.body, Message: u.message, Session: u.session})
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	result.Status = res.StatusCode
	isJSON, isStream := exchange.IsJSON(res.Header.Get("Content-Type")), exchange.IsEventStream(res.Header.Get("Content-Type"))
	switch status := res.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden: // for the credential of the gateway
		result.Fail(fault.Read(http.StatusUnauthorized, "", nil))
	case status >= 300 && status < 400:
		result.Fail(fault.Redirected())
	case status == http.StatusMethodNotAllowed:
		u.to.SetHeaders("Allow", http.MethodPost)
		result.Fail(fault.WrongMethod(http.MethodPost))
	case status == http.StatusNotFound && u.session != "" && !isJSON:
		result.Fail(fault.MCPUnknownSession())
	case status/100 == 2 && isStream:
		u.passEvents(ctx, res, result)
		return nil
	case isJSON:
		return u.passMessage(ctx, res, result)
	case status == http.StatusAccepted || status == http.StatusNoContent || status/100 == 2 && !u.awaitsAnswer():
		u.passStatus(res, result)
		return nil
	case status/100 == 2:
		result.Fail(fault.Unusable(errNoMessage))
	default:
		result.Fail(fault.Read(status, "", nil))
	}
	return nil
}

var (
	// errSession is the error of a session whose id the gateway cannot seal.
	errSession = errors.New("the id of the session is longer than 256 bytes")
	// errNoMessage is the error of an answer to a request that is neither a message nor a stream of them.
	errNoMessage = errors.New("the answer of the server is neither JSON nor a stream of events")
)

// begin sets the headers of the answer.
func (u *mcpUse) begin(res *http.Response) error {
	h := u.Incoming(res.Header)
	if id := res.Header.Get(wire.SessionHeader); id != "" {
		if len(id) > 256 {
			return errSession
		}
		sealed := u.h.providers.Seals().IDs(u.to.Exchange.Owner()).Append(nil, sessionKind, u.account(), []byte(id))
		h.Set(wire.SessionHeader, string(sealed))
	}
	u.to.TakeHeader(h)
	return nil
}

// passStatus passes on an answer without a message.
func (u *mcpUse) passStatus(res *http.Response, result *exchange.Result) {
	if err := u.begin(res); err != nil {
		result.Fail(fault.Unusable(err))
		return
	}
	u.to.Header().Del("Content-Type")
	result.Finish(token.Usage{})
	u.to.WriteHeader(res.StatusCode)
}

// passMessage passes on an answer that is one message.
func (u *mcpUse) passMessage(ctx context.Context, res *http.Response, result *exchange.Result) error {
	body, err := u.ReadAll(res.Body)
	switch {
	case mcp.IsUnusable(err):
		result.Fail(fault.Unusable(err))
		return nil
	case err != nil:
		return err
	}
	answer, refused := u.read(ctx, body)
	if err := u.begin(res); err != nil && refused == nil {
		refused = fault.Unusable(err)
	}
	if refused != nil {
		result.Fail(refused)
		return nil
	}
	u.finish(answer, result)
	u.to.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)))
	u.to.WriteHeader(res.StatusCode)
	_, _ = u.to.Write(answer.Body)
	return nil
}

// read reads a message of the server, as the guards let it pass. What it answers is known if the client has
// sent a message.
func (u *mcpUse) read(ctx context.Context, body []byte) (wire.Answer, *fault.Fault) {
	method := ""
	if u.message != nil {
		method = u.message.Method
	}
	answer, err := wire.ReadAnswer(body, method, u.shows)
	if err != nil {
		return answer, fault.Unusable(err)
	}
	return answer, u.guardAnswer(ctx, &answer)
}

// finish notes the end of a whole answer.
func (u *mcpUse) finish(answer wire.Answer, result *exchange.Result) {
	if answer.Failed {
		u.to.Exchange.Fault = fault.MCPToolFailed()
	}
	result.Finish(token.Usage{})
}

// passEvents passes on a stream of messages, until the one that answers the request.
func (u *mcpUse) passEvents(ctx context.Context, res *http.Response, result *exchange.Result) {
	if err := u.begin(res); err != nil {
		result.Fail(fault.Unusable(err))
		return
	}
	result.State, result.Began = exchange.Content, time.Now()
	u.to.WriteHeader(res.StatusCode)
	_ = u.to.FlushError()
	for events := u.Events(res.Body); !result.Whole(); {
		event, err := events.Next()
		if err != nil {
			u.endEvents(ctx, err, result)
			return
		}
		u.resumable = u.resumable || wire.HasEventID(event)
		event, refused := u.passed(ctx, event, result)
		switch {
		case refused != nil && refused.IsUnusable():
			result.Fail(refused)
			return
		case refused != nil:
			event = u.refusal(refused, result)
		}
		_, _ = u.to.Write(event)
		_ = u.to.FlushError()
	}
}

// endEvents notes the end of a stream behind its last event. It is no failure of a stream that the client may
// resume, or that answers no request.
func (u *mcpUse) endEvents(ctx context.Context, err error, result *exchange.Result) {
	switch {
	case ctx.Err() != nil: // which is the reason
	case errors.Is(err, io.EOF) && (u.resumable || !u.awaitsAnswer() || u.message.IsSubscription()):
		result.Finish(token.Usage{})
	case mcp.IsUnusable(err):
		result.Fail(fault.Unusable(err))
	default:
		result.Fail(fault.Truncated(err))
	}
}

// refusal returns the event that ends a stream that a guard has blocked. The call ends as whole: the server
// has answered.
func (u *mcpUse) refusal(refused *fault.Fault, result *exchange.Result) []byte {
	u.to.Exchange.Fault = refused
	result.Finish(token.Usage{})
	return u.errorEvent(refused)
}

// errorEvent returns the event of a fault, as the answer to the request.
func (u *mcpUse) errorEvent(f *fault.Fault) []byte {
	ex := u.to.Exchange
	return append(ex.Format.Errors.Append([]byte("data: "), f, ex.ID), "\n\n"...)
}

// passed returns an event as the client gets it, and notes the end of the answer.
func (u *mcpUse) passed(ctx context.Context, event []byte, result *exchange.Result) ([]byte, *fault.Fault) {
	data, replace := wire.Event(event)
	if len(data) == 0 {
		return event, nil
	}
	answer, refused := u.read(ctx, data)
	if refused != nil {
		return nil, refused
	}
	if u.message != nil && u.message.ID != nil && wire.SameID(answer.ID, u.message.ID) {
		u.finish(answer, result)
	}
	if len(answer.Body) == len(data) && &answer.Body[0] == &data[0] {
		return event, nil
	}
	return replace(answer.Body), nil
}
