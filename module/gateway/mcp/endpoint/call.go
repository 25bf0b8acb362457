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

// call is the call of a server for its use by a request.
type call struct {
	use       *use
	ctx       context.Context // the call ends with it
	result    *exchange.Result
	resumable bool // the stream of the answer has ids of events, with which the client can resume it
}

// call sends the request to the server, and the answer to the client.
func (u *use) call() {
	ex := u.answer.Exchange
	deadline := u.site.Deadline
	if u.asked != nil && (deadline == 0 || patience < deadline) {
		deadline = patience
	}
	ctx, cancel := u.site.Drain.Bind(u.r.Context(), deadline)
	u.answer.Start(cancel, sink.Options{Passes: true})
	conduit := &exchange.Conduit{
		Attempt: exchange.Attempt{
			Exchange: ex, Provider: nameOf(u.server), Service: string(wire.Name), Format: ex.Request.Format, Model: u.tool(),
		},
		Started: time.Since(ex.Start),
	}
	u.answer.Next(conduit, 0)
	ctx, span := tracing.StartCall(ctx, &conduit.Attempt)
	result := &conduit.Result
	c := &call{use: u, ctx: ctx, result: result}
	if err := c.make(); err != nil && ctx.Err() == nil && result.Fault == nil {
		result.Fail(callFault(ctx, err))
	} else if cause := context.Cause(ctx); cause != nil && !result.Whole() && u.r.Context().Err() == nil {
		result.Fail(callFault(ctx, cause))
	}
	ex.Course.End(conduit)
	span.End(conduit)
	if f := result.Fault; f != nil && !result.Whole() {
		c.logFailure(f)
		c.endStream(f)
		u.answer.Fail(f)
		return
	}
	u.answer.Abandon(ctx)
}

// logFailure logs why the call has failed, as failed attempts at providers are logged.
func (c *call) logFailure(f *fault.Fault) {
	u := c.use
	u.site.Logger.Warn("attempt failed", zap.String("request_id", u.answer.Exchange.ID), zap.String("provider", nameOf(u.server)),
		zap.Int("upstream_status", c.result.Status), zap.NamedError("cause", f.Cause), zap.String("fault", f.LogMessage()))
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

// make makes the call. An answer that cannot be passed on is a fault of the result.
func (c *call) make() error {
	u, result := c.use, c.result
	result.Times.Called, result.Sent = time.Now(), true
	res, err := u.server.Send(c.ctx, u.request())
	var refused *mcp.RefusedError
	switch {
	case errors.Is(err, mcp.ErrNoCaller):
		result.Fail(fault.MCPCallerUnknown(u.server.Name()))
		return nil
	case errors.As(err, &refused):
		result.Fail(fault.MCPNoToken(u.server.Name(), err))
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
		if err := c.beginAnswer(res); err != nil {
			result.Fail(fault.Unusable(err))
			return nil
		}
		c.passStream(res.StatusCode, res.Body)
		return nil
	case isJSON:
		return c.passMessage(res)
	case status == http.StatusAccepted || status == http.StatusNoContent || status/100 == 2 && !u.message.IsRequest():
		c.passStatus(res)
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
func (c *call) beginAnswer(res *http.Response) error {
	u := c.use
	h := u.server.Incoming(res.Header)
	if id := res.Header.Get(wire.SessionHeader); id != "" {
		if len(id) > 256 {
			return errSession
		}
		switch {
		case u.asked != nil:
			u.asked.session = id
		case !u.joined: // the client has the id of all sessions together, and servers repeat theirs
			sealed := u.site.Seals().IDs(u.answer.Exchange.Owner()).Append(nil, sessionKind, accountOf(u.server), []byte(id))
			h.Set(wire.SessionHeader, string(sealed))
		}
	}
	u.answer.TakeHeader(h)
	return nil
}

// passStatus passes on an answer without a message.
func (c *call) passStatus(res *http.Response) {
	if err := c.beginAnswer(res); err != nil {
		c.result.Fail(fault.Unusable(err))
		return
	}
	answer := c.use.answer
	answer.Header().Del("Content-Type")
	c.result.Finish(token.Usage{})
	answer.WriteHeader(res.StatusCode)
}

// passMessage passes on an answer that is one message.
func (c *call) passMessage(res *http.Response) error {
	u := c.use
	body, err := u.server.ReadAll(res.Body)
	switch {
	case mcp.IsUnusable(err):
		c.result.Fail(fault.Unusable(err))
		return nil
	case err != nil:
		return err
	}
	answer, refused := c.read(body)
	if err := c.beginAnswer(res); err != nil && refused == nil {
		refused = fault.Unusable(err)
	}
	if refused == nil {
		refused = c.checkAnswer(res.StatusCode, &answer)
	}
	if refused != nil {
		c.result.Fail(refused)
		return nil
	}
	c.finish(answer)
	u.answer.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)))
	u.answer.WriteHeader(res.StatusCode)
	_, _ = u.answer.Write(answer.Body)
	return nil
}

// errNoAnswer is the error of a message in place of the answer to a request.
var errNoAnswer = errors.New("the message of the server does not answer the request")

// checkAnswer returns the fault of a message that does not answer the request: a proxy in front of a server
// has messages of its own for its errors. An error may have no id, if the server has not read the request.
func (c *call) checkAnswer(status int, answer *wire.Answer) *fault.Fault {
	u := c.use
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
func (c *call) read(body []byte) (wire.Answer, *fault.Fault) {
	u, method := c.use, ""
	if u.message != nil {
		method = u.message.Method
	}
	definitions := u.server.Compare()
	answer, err := wire.ReadAnswer(body, wire.View{Method: method, Shows: u.shows, Rename: u.rename(), Keeps: definitions.Keeps})
	definitions.End()
	if err != nil {
		return answer, fault.Unusable(err)
	}
	return answer, c.guardAnswer(&answer)
}

// finish notes the end of a whole answer.
func (c *call) finish(answer wire.Answer) {
	if answer.Failed {
		c.use.answer.Exchange.Delivery.Fault = fault.MCPToolFailed()
	}
	c.result.Finish(token.Usage{})
}
