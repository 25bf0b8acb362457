package endpoint

import (
	"context"
	"errors"
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
func (u *use) call() {
	ex := u.answer.Exchange
	deadline := u.Deadline
	if u.asked != nil && (deadline == 0 || patience < deadline) {
		deadline = patience
	}
	ctx, cancel := u.Drain.Bind(u.r.Context(), deadline)
	u.answer.Start(cancel, sink.Options{Passes: true})
	c := &exchange.Conduit{
		Attempt: exchange.Attempt{
			Exchange: ex, Provider: nameOf(u.Server), Service: string(wire.Name), Format: ex.Request.Format, Model: u.tool(),
		},
		Started: time.Since(ex.Start),
	}
	u.answer.Next(c, 0)
	ctx, span := tracing.StartCall(ctx, &c.Attempt)
	if err := u.exchange(ctx, &c.Result); err != nil && ctx.Err() == nil && c.Result.Fault == nil {
		c.Result.Fail(callFault(ctx, err))
	} else if cause := context.Cause(ctx); cause != nil && !c.Result.Whole() && u.r.Context().Err() == nil {
		c.Result.Fail(callFault(ctx, cause))
	}
	ex.Course.End(c)
	span.End(c)
	if f := c.Result.Fault; f != nil && !c.Result.Whole() {
		u.logFailure(f, &c.Result)
		u.endStream(f, &c.Result)
		u.answer.Fail(f)
		return
	}
	u.answer.Abandon(ctx)
}

// logFailure logs why a call has failed, as failed attempts at providers are logged.
func (u *use) logFailure(f *fault.Fault, result *exchange.Result) {
	u.Logger.Warn("attempt failed", zap.String("request_id", u.answer.Exchange.ID), zap.String("provider", nameOf(u.Server)),
		zap.Int("upstream_status", result.Status), zap.NamedError("cause", f.Cause), zap.String("fault", f.LogMessage()))
}

// endStream ends a stream that has failed with an error as the answer to the request: without it, the client
// waits until its own timeout. A client that can resume the stream gets the answer there, and no error.
func (u *use) endStream(f *fault.Fault, result *exchange.Result) {
	if result.Times.Began.IsZero() || u.resumable || !u.message.IsRequest() {
		return
	}
	result.State = exchange.Relayed
	_, _ = u.answer.Write(u.errorEvent(f))
	_ = u.answer.FlushError()
}

// errorEvent returns the event of a fault, as the answer to the request.
func (u *use) errorEvent(f *fault.Fault) []byte {
	ex := u.answer.Exchange
	return append(ex.Request.Format.Errors.Append([]byte("data: "), f, ex.ID), "\n\n"...)
}

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
func (u *use) exchange(ctx context.Context, result *exchange.Result) error {
	result.Times.Called, result.Sent = time.Now(), true
	res, err := u.Send(ctx, mcp.Request{Method: u.r.Method, Header: u.headers(), Body: u.body, Message: u.message, Session: u.session.id, Caller: u.caller()})
	var refused *mcp.RefusedError
	switch {
	case errors.Is(err, mcp.ErrNoCaller):
		result.Fail(fault.MCPCallerUnknown(u.Name))
		return nil
	case errors.As(err, &refused):
		result.Fail(fault.MCPNoToken(u.Name, err))
		return nil
	case err != nil:
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
		u.answer.SetHeaders("Allow", http.MethodPost)
		result.Fail(fault.WrongMethod(http.MethodPost))
	case status == http.StatusNotFound && u.session.id != "" && !isJSON:
		result.Fail(fault.MCPUnknownSession())
	case status/100 == 2 && isStream:
		if err := u.beginAnswer(res); err != nil {
			result.Fail(fault.Unusable(err))
			return nil
		}
		(&stream{use: u, ctx: ctx, result: result}).pass(res.StatusCode, res.Body)
		return nil
	case isJSON:
		return u.passMessage(ctx, res, result)
	case status == http.StatusAccepted || status == http.StatusNoContent || status/100 == 2 && !u.message.IsRequest():
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

// beginAnswer sets the headers of the answer.
func (u *use) beginAnswer(res *http.Response) error {
	h := u.Incoming(res.Header)
	if id := res.Header.Get(wire.SessionHeader); id != "" {
		if len(id) > 256 {
			return errSession
		}
		switch {
		case u.asked != nil:
			u.asked.session = id
		case !u.joined: // the client has the id of all sessions together, and servers repeat theirs
			sealed := u.Seals().IDs(u.answer.Exchange.Owner()).Append(nil, sessionKind, accountOf(u.Server), []byte(id))
			h.Set(wire.SessionHeader, string(sealed))
		}
	}
	u.answer.TakeHeader(h)
	return nil
}

// passStatus passes on an answer without a message.
func (u *use) passStatus(res *http.Response, result *exchange.Result) {
	if err := u.beginAnswer(res); err != nil {
		result.Fail(fault.Unusable(err))
		return
	}
	u.answer.Header().Del("Content-Type")
	result.Finish(token.Usage{})
	u.answer.WriteHeader(res.StatusCode)
}

// passMessage passes on an answer that is one message.
func (u *use) passMessage(ctx context.Context, res *http.Response, result *exchange.Result) error {
	body, err := u.ReadAll(res.Body)
	switch {
	case mcp.IsUnusable(err):
		result.Fail(fault.Unusable(err))
		return nil
	case err != nil:
		return err
	}
	answer, refused := u.read(ctx, body)
	if err := u.beginAnswer(res); err != nil && refused == nil {
		refused = fault.Unusable(err)
	}
	if refused == nil {
		refused = u.checkAnswer(res.StatusCode, &answer)
	}
	if refused != nil {
		result.Fail(refused)
		return nil
	}
	u.finish(answer, result)
	u.answer.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)))
	u.answer.WriteHeader(res.StatusCode)
	_, _ = u.answer.Write(answer.Body)
	return nil
}

// errNoAnswer is the error of a message in place of the answer to a request.
var errNoAnswer = errors.New("the message of the server does not answer the request")

// checkAnswer returns the fault of a message that does not answer the request: a proxy in front of a server
// has messages of its own for its errors. An error may have no id, if the server has not read the request.
func (u *use) checkAnswer(status int, answer *wire.Answer) *fault.Fault {
	isUnread := answer.Answers && answer.Failed && wire.IsNoID(answer.ID)
	switch {
	case !u.message.IsRequest(), answer.Answers && wire.SameID(answer.ID, u.message.ID):
		return nil
	case u.joined && u.session.id != "" && isUnread && status == http.StatusBadRequest:
		// Servers answer so in place of 404 if they do not know a session, whose version the message has.
		return fault.MCPUnknownSession()
	case isUnread:
		return nil
	case u.session.id != "" && status == http.StatusNotFound:
		return fault.MCPUnknownSession()
	case status/100 == 2:
		return fault.Unusable(errNoAnswer)
	}
	return fault.Read(status, "", nil)
}

// read reads a message of the server, as the guards let it pass. What it answers is known if the client has
// sent a message.
func (u *use) read(ctx context.Context, body []byte) (wire.Answer, *fault.Fault) {
	method := ""
	if u.message != nil {
		method = u.message.Method
	}
	definitions := u.Compare()
	answer, err := wire.ReadAnswer(body, wire.View{Method: method, Shows: u.shows, Rename: u.rename(), Keeps: definitions.Keeps})
	definitions.End()
	if err != nil {
		return answer, fault.Unusable(err)
	}
	return answer, u.guardAnswer(ctx, &answer)
}

// finish notes the end of a whole answer.
func (u *use) finish(answer wire.Answer, result *exchange.Result) {
	if answer.Failed {
		u.answer.Exchange.Delivery.Fault = fault.MCPToolFailed()
	}
	result.Finish(token.Usage{})
}
