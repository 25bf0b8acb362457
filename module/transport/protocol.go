package transport

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// This file applies the protocols of presets. A provider without one pays nothing for it.

// service is what calls depend on of the service of a provider.
type service struct {
	base      *url.URL           // the zero URL if reverse_proxy has the addresses
	protocol  aigateway.Protocol // of the preset
	inProcess bool               // the preset answers without a server
}

// unchanged is the call of a provider without a protocol. Nothing changes it.
var unchanged = new(aigateway.Call)

// address returns the call of an attempt with what the protocol of the provider changes. Its error
// is aigateway.ErrModelName if the path would contain a name that leads elsewhere.
func (s *service) address(a *exchange.Attempt) (*aigateway.Call, error) {
	odd := !s.inProcess && (strings.ContainsAny(a.Model, `/\%`) || strings.HasPrefix(a.Model, "."))
	if s.protocol.Address == nil && !(odd && a.Format.Provider.ModelInPath) {
		return unchanged, nil
	}
	ex := a.Exchange
	h, address := s.head(a)
	path, query := a.Format.Provider.Call(address)
	if s.protocol.Address == nil {
		return unchanged, checkPath(strings.TrimPrefix(path, address.Base))
	}
	call := &aigateway.Call{
		Format: a.Format.Name, Operation: ex.Request.Operation, Model: a.Model, Stream: ex.Request.Streaming(),
		Base: address.Base, Path: path, Query: query, Header: h,
	}
	if err := s.protocol.Address(call); err != nil || !odd {
		return call, err
	}
	return call, checkPath(strings.TrimPrefix(call.Path, address.Base))
}

// checkPath returns aigateway.ErrModelName for an escaped path that some servers read as another
// one: of which a segment contains a slash, a backslash or an escape when it is unescaped, or leads
// to another folder. The slashes of an ARN are escaped, because AWS demands it.
func checkPath(path string) error {
	isARN := strings.Contains(path, "/model/arn%3A")
	for segment := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || strings.ContainsAny(plain, `\%`) || strings.Contains(plain, "/") && !isARN {
			return aigateway.ErrModelName
		}
		for part := range strings.SplitSeq(plain, "/") {
			if name, _, _ := strings.Cut(part, ":"); name == "." || name == ".." {
				return aigateway.ErrModelName
			}
		}
	}
	return nil
}

// unaddressable returns the fault of a request that a protocol cannot send: its model has no place in
// a path, or the service lacks the endpoint.
func unaddressable(a *exchange.Attempt, err error) *fault.Fault {
	ex := a.Exchange
	f := fault.UnknownModel(ex.Request.View.Model)
	if ex.Request.Operation.Untranslated() && !errors.Is(err, aigateway.ErrModelName) {
		f = fault.NoEndpoint(ex.Request.View.Model, ex.Request.Format.Client.PathOf(ex.Request.Operation))
	}
	f.Cause = err
	return f
}

// bodyEdits returns the edits of a body that a protocol demands, in the order of the body,
// and what is lost.
func bodyEdits(call *aigateway.Call, body []byte) (edits []edit.Edit, lost translate.Losses) {
	lost = call.Lost
	changes := &call.Body
	if changes.Only == "" && changes.With == "" && len(changes.Without) == 0 && len(changes.Unsupported) == 0 {
		return nil, lost
	}
	sent := object(body, changes.Only)
	if sent.Start > 0 {
		edits = append(edits, edit.Edit{Span: translate.Span{End: sent.Start}})
	}
	c := jsonscan.Skipped(body[sent.Start:sent.End])
	if changes.With != "" && c.EnterObject() {
		start := sent.Start + c.Offset()
		edits = append(edits, edit.Edit{Span: translate.Span{Start: start, End: start}, With: []byte(changes.With + ",")})
	}
	paths := slices.Clone(changes.Without)
	for _, loss := range changes.Unsupported {
		paths = append(paths, loss.Path)
	}
	cuts, present := edit.CutMembers(body[sent.Start:sent.End], paths)
	for _, loss := range changes.Unsupported {
		if present[loss.Path] {
			path, _, _ := strings.Cut(loss.Path, "=")
			lost.Add(loss.Class, path)
		}
	}
	for _, cut := range cuts {
		cut.Start, cut.End = cut.Start+sent.Start, cut.End+sent.Start
		edits = append(edits, cut)
	}
	if sent.End < len(body) {
		edits = append(edits, edit.Edit{Span: translate.Span{Start: sent.End, End: len(body)}})
	}
	return edits, lost
}

// splicedBody returns the payload of a body with edits, as the protocol sends it. It retains the
// lease of the body's memory if it needs it.
func splicedBody(call *aigateway.Call, body []byte, edits []edit.Edit, lease *exchange.Lease) *payload.Payload {
	frame := call.Body.Around
	if frame == [2]string{} {
		return payload.Splice(body, edits, lease)
	}
	inner := edit.Apply(nil, body, edits)
	return payload.New(append(base64.StdEncoding.AppendEncode([]byte(frame[0]), inner), frame[1]...), nil)
}

// object returns the span of the object that is the value of a member of a body; of the whole
// body if it has no such member.
func object(body []byte, name string) translate.Span {
	c := jsonscan.Skipped(body)
	if name != "" && c.EnterObject() {
		for c.Member() {
			if string(c.Name()) != name || c.Kind() != jsonscan.Object {
				c.Skip()
				continue
			}
			start := c.Offset()
			return translate.Span{Start: start, End: start + len(c.Skip())}
		}
	}
	return translate.Span{End: len(body)}
}

// isLeftOut reports whether an edit leaves out a span.
func isLeftOut(edits []edit.Edit, s translate.Span) bool {
	return slices.ContainsFunc(edits, func(e edit.Edit) bool { return e.Start <= s.Start && s.End <= e.End })
}

// authorize sets the credential of the call, which is a token if the protocol has them.
// Refused is a token that the provider has refused.
func (c *call) authorize(refused string) error {
	if c.t.credentials.token == nil {
		return nil
	}
	token, err := c.t.credentials.get(c.life.ctx, c.attempt.APIKey, refused)
	if err == nil {
		c.result.hide.credential = token
	}
	return err
}

// carry signs and sends a request, if the protocol demands a signature, and opens its answer.
func (c *call) carry(r *http.Request, p *payload.Payload, retry bool) (*http.Response, error) {
	if c.signs() {
		var err error
		if c.result.hide.signed, err = c.t.service.protocol.Sign(r, p, retry); err != nil {
			_ = r.Body.Close()
			return nil, err
		}
	}
	res, err := c.sendOn(r)
	if err != nil {
		return nil, err
	}
	res.Body = c.life.conn.Body(res.Body)
	if open := c.t.service.protocol.Open; open != nil {
		open(res, c.attempt.Format.Name, c.attempt.Exchange.Request.Operation)
	}
	return res, nil
}

// sendOn sends a request: with the carrier of the provider, or as a message on the socket of the
// client.
func (c *call) sendOn(r *http.Request) (*http.Response, error) {
	if !c.attempt.Exchange.Request.InMessage {
		return c.t.carrier.send(r)
	}
	defer r.Body.Close()
	m := exchange.MessageFrom(c.life.client)
	return m.Send(r.Context(), m.Stream, r.Body)
}

// signs reports whether requests are signed: the provider has no API key.
func (c *call) signs() bool {
	return c.t.service.protocol.Sign != nil && c.result.hide.credential == ""
}

// renew reports whether a request whose credential the provider has refused can be repeated
// with another one.
func (c *call) renew() bool {
	return c.signs() || c.t.credentials.token != nil && c.authorize(c.result.hide.credential) == nil
}
