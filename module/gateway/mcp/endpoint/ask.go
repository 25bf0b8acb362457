package endpoint

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// patience is the longest time for the answer of one of several servers. One that does not answer must not
// take the others away from a client, which waits for about a minute.
const patience = 10 * time.Second

// asked is the answer of one of several servers.
type asked struct {
	server  *mcp.Server
	refused *fault.Fault // the gateway has asked nothing
	failed  bool         // the server has not answered
	status  int
	header  http.Header
	body    []byte
	session string // that the server has begun; "" for none
}

// ask sends a message to servers at once, and returns their answers in the same order. Each is an exchange
// of its own. messageFor returns the message for a server, nil for a request without one.
func (u *union) ask(servers []*mcp.Server, messageFor func(*mcp.Server) []byte) []asked {
	all := make([]asked, len(servers))
	var wait sync.WaitGroup
	for i, server := range servers {
		body := messageFor(server)
		wait.Go(func() { all[i] = u.askOne(server, body) })
	}
	wait.Wait()
	return all
}

// same returns a function that returns the same message for all servers.
func same(body []byte) func(*mcp.Server) []byte { return func(*mcp.Server) []byte { return body } }

// askOne sends a message to a server.
func (u *union) askOne(server *mcp.Server, body []byte) (a asked) {
	a = asked{server: server, failed: true}
	defer func() { _ = recover() }() // of an answer that was aborted, and of what was logged
	w := &written{header: make(http.Header), most: 2 * server.AnswerLimit()}
	u.servers.Within(u.answer.Exchange, w, u.r, func(answer *reply.Reply) *fault.Fault {
		one := &use{server: server, site: &u.servers.Site, answer: answer, r: u.r, body: body, joined: true, asked: &a}
		if s := u.sessions[server.Name()]; s != nil {
			one.session = *s
		}
		if body != nil {
			message, refused := wire.Read(body)
			if refused != nil {
				return refused
			}
			one.message = message
		}
		one.nameExchange()
		a.refused = one.serve()
		a.failed = answer.Exchange.Course.Result == nil || !answer.Exchange.Course.Result.Whole()
		return a.refused
	})
	a.status, a.header, a.body, a.failed = w.status, w.header, w.text, a.failed || w.full
	return a
}

// message returns the message in an answer: the body, or an event with the id of the request.
func (a *asked) message(id []byte) []byte {
	if !exchange.IsEventStream(a.header.Get("Content-Type")) {
		return a.body
	}
	for events := a.server.Events(bytes.NewReader(a.body)); ; {
		event, err := events.Next()
		if err != nil {
			return nil
		}
		data, _ := wire.Event(event)
		if answer, err := wire.ReadAnswer(data, wire.View{Shows: func(wire.Element) bool { return true }}); err == nil && wire.SameID(answer.ID, id) {
			return data
		}
	}
}

// parts returns what servers have answered. Those that have not are left out, with the reason in the log. A
// refusal of the gateway is one of the whole.
func (u *union) parts(all []asked) (parts []wire.Part, refused *fault.Fault) {
	for i := range all {
		a := &all[i]
		if a.refused != nil {
			return nil, a.refused
		}
		part, ok := wire.ReadPart(a.server.Name(), a.message(u.message.ID))
		switch {
		case a.status == http.StatusNotFound && u.sessions != nil && part.IsUnknownSession():
			return nil, fault.MCPUnknownSession()
		case a.failed || !ok:
			u.leaveOut(a.server, zap.Int("status", a.status))
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil, fault.MCPNoServer()
	}
	return parts, nil
}

// leaveOut logs that a server is left out of an answer. The log of the exchange with it has the cause.
func (u *union) leaveOut(server *mcp.Server, why zap.Field) {
	u.servers.Logger.Warn("MCP server left out", zap.String("request_id", u.answer.Exchange.ID), zap.String("server", server.Name()),
		zap.String("method", u.message.Method), why)
}

// results returns the parts that are results, and the number of servers that have answered with an error.
// Those that do not have the method are left out silently.
func (u *union) results(all []asked) (results []wire.Part, errors int, refused *fault.Fault) {
	parts, refused := u.parts(all)
	for _, p := range parts {
		if p.Result != nil {
			results = append(results, p)
			continue
		}
		errors++
		if !p.IsUnknownMethod() {
			u.leaveOut(u.servers.named(p.Server), zap.Int("code", p.Code))
		}
	}
	return results, errors, refused
}

// list answers a message for a list with the lists of all servers. The first page has the first page of each;
// the others those of the servers that have more.
func (u *union) list() *fault.Fault {
	servers := u.participants()
	cursors, ok := wire.Cursors(u.body)
	if !ok {
		return fault.InvalidField("params.cursor", "must be one of this list")
	}
	messageFor := same(u.body)
	if cursors != nil {
		var more []*mcp.Server
		for _, server := range servers {
			if _, ok := cursors[server.Name()]; ok {
				more = append(more, server)
			}
		}
		servers = more
		messageFor = func(s *mcp.Server) []byte { return wire.WithCursor(u.body, cursors[s.Name()]) }
	}
	var results []wire.Part
	if len(servers) > 0 {
		var refused *fault.Fault
		if results, _, refused = u.results(u.ask(servers, messageFor)); refused != nil {
			return refused
		}
	}
	u.answer.WriteJSON(u.message.JoinLists(results, cursors))
	return nil
}

// discover answers a message for what a server has. It is unknown as long as one of the servers answers that
// it does not know it: a client then begins a session, which more of them have.
func (u *union) discover() *fault.Fault {
	if len(u.participants()) < len(u.allowed) {
		return fault.MCPUnknownMethod()
	}
	results, unknown, refused := u.results(u.ask(u.allowed, same(u.body)))
	switch {
	case refused != nil:
		return refused
	case unknown > 0:
		return fault.MCPUnknownMethod()
	}
	u.answer.WriteJSON(u.message.JoinServers(u.body, results))
	return nil
}

// initialize begins a session with each server that has sessions, and answers with one of them all.
func (u *union) initialize() *fault.Fault {
	body := wire.WithoutCapabilities(u.body)
	u.sessions = nil // of an earlier session
	answers := u.ask(u.participants(), same(body))
	results, _, refused := u.results(answers)
	switch {
	case refused != nil:
		return refused
	case len(results) == 0:
		return fault.MCPNoServer()
	}
	u.sessions = make(map[string]*session)
	for i := range results {
		u.sessions[results[i].Server] = &session{version: results[i].Version()}
	}
	for i := range answers {
		if s := u.sessions[answers[i].server.Name()]; s != nil {
			s.id = answers[i].session
		}
	}
	begun := u.participants()
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	u.ask(begun, same([]byte(initialized)))
	u.sealSessions(begun)
	u.answer.WriteJSON(u.message.JoinServers(u.body, results))
	return nil
}

// written is the answer of a server in memory.
type written struct {
	header http.Header
	status int
	text   []byte
	most   int64 // bytes
	full   bool  // the rest was dropped
}

func (w *written) Header() http.Header { return w.header }

// Flush does nothing. Without it, a stream is taken for one whose client is gone.
func (w *written) Flush() {}

func (w *written) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write keeps what fits.
func (w *written) Write(p []byte) (int, error) {
	if w.full = w.full || int64(len(w.text)+len(p)) > w.most; !w.full {
		w.text = append(w.text, p...)
	}
	return len(p), nil
}
