package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// serverPrefix is what the names of servers of the Model Context Protocol begin with. Behind it, a name is as in
// the path of the server.
const serverPrefix = "mcp/"

// IsServer reports whether m is a server of the Model Context Protocol.
func (m Model) IsServer() bool { return strings.HasPrefix(m.Name, serverPrefix) }

// The versions of the protocol that the doctor asks for: the last one with sessions, and the first one without.
const (
	lastWithSessions = "2025-11-25"
	firstWithout     = "2026-07-28"
)

// itself is how the doctor introduces itself to servers.
var itself = map[string]any{"name": "caddy ai-gateway doctor", "version": "1"}

// visit is the examination of a server.
type visit struct {
	ctx     context.Context
	gateway Gateway
	path    string
	version string // of the protocol; "" before the server has chosen one
	session string // "" for none
	status  int    // of the last answer; 0 for none
}

var serverProbes = []struct {
	name string
	run  func(*visit) (found string, err error)
}{{"connect", (*visit).connect}, {"tools", (*visit).tools}}

// ServerProbes returns the names of all probes of servers, in their order.
func ServerProbes() (names []string) {
	for _, p := range serverProbes {
		names = append(names, p.name)
	}
	return names
}

// ServerFormat is the format of the results of servers.
const ServerFormat = "mcp"

// examineServer runs the probes of a server, until one does not work.
func examineServer(ctx context.Context, g Gateway, name string, report func(Result)) {
	v := &visit{ctx: ctx, gateway: g, path: "/" + name}
	for _, p := range serverProbes {
		found, err := p.run(v)
		r := Result{Model: name, Format: ServerFormat, Probe: p.name, State: Works, Found: found}
		if err != nil {
			r.State, r.Reason, r.Advice = v.stateFor(err), err.Error(), adviceOf(ofServers, err.Error(), false)
		}
		report(r)
		if err != nil {
			break
		}
	}
	if v.session != "" {
		_, _ = v.send(http.MethodDelete, nil)
	}
}

// stateFor returns the state of a probe that has failed. What the gateway refuses this key is not broken.
func (v *visit) stateFor(err error) State {
	switch {
	case blockedBy.MatchString(err.Error()):
		return Blocked
	case v.status == http.StatusForbidden, notSupported.MatchString(err.Error()), isUnknownMethod(err):
		return Unsupported
	}
	return Broken
}

// connect begins a session, or asks what a server has whose versions have no sessions.
func (v *visit) connect() (found string, err error) {
	var server struct {
		Version  string   `json:"protocolVersion"`
		Versions []string `json:"supportedVersions"`
	}
	err = v.ask("initialize", map[string]any{"protocolVersion": lastWithSessions, "capabilities": map[string]any{}, "clientInfo": itself}, &server)
	if err == nil {
		v.version = server.Version
		_, err = v.send(http.MethodPost, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
		return "version " + v.version, err
	}
	if v.status == 0 || v.status >= http.StatusInternalServerError || v.status == http.StatusForbidden {
		return "", err
	}
	v.version = firstWithout
	if v.ask("server/discover", map[string]any{}, &server) != nil {
		return "", err // a server with sessions does not know this method
	}
	return "version " + strings.Join(server.Versions, ", "), nil
}

// tools counts the tools that the key may use.
func (v *visit) tools() (found string, err error) {
	var list struct {
		Tools []json.RawMessage
		Next  string `json:"nextCursor"`
	}
	if err := v.ask("tools/list", map[string]any{}, &list); err != nil {
		return "", err
	}
	found = fmt.Sprintf("tools: %d", len(list.Tools))
	if list.Next != "" {
		found += " on the first page"
	}
	return found, nil
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    int
	Message string
}

func (e *rpcError) Error() string { return e.Message }

// isUnknownMethod reports whether a server does not have a method.
func isUnknownMethod(err error) bool {
	const unknownMethod = -32601
	var refused *rpcError
	return errors.As(err, &refused) && refused.Code == unknownMethod
}

// ask sends a request, and decodes its result.
func (v *visit) ask(method string, params map[string]any, result any) error {
	if v.version == firstWithout {
		const meta = "io.modelcontextprotocol/"
		params["_meta"] = map[string]any{
			meta + "protocolVersion": v.version, meta + "clientCapabilities": map[string]any{},
			meta + "clientInfo": itself,
		}
	}
	got, err := v.send(http.MethodPost, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	var message struct {
		Result json.RawMessage
		Error  *rpcError
	}
	switch err := json.Unmarshal(got.answer(), &message); {
	case err == nil && message.Error != nil:
		return fmt.Errorf("%d: %w", got.status, message.Error)
	case got.status != http.StatusOK:
		return errors.New(got.refusal())
	case err != nil || json.Unmarshal(message.Result, result) != nil:
		return errNoAnswer
	}
	return nil
}

// send sends a message, nil for the end of the session.
func (v *visit) send(method string, message any) (reply, error) {
	v.status = 0
	headers := [][2]string{{"Accept", "application/json, text/event-stream"}}
	if v.version != "" {
		headers = append(headers, [2]string{"Mcp-Protocol-Version", v.version})
	}
	if v.session != "" {
		headers = append(headers, [2]string{"Mcp-Session-Id", v.session})
	}
	var body []byte
	if message != nil {
		body, _ = json.Marshal(message) // maps of texts always encode
	}
	got, err := v.gateway.send(v.ctx, method, v.path, body, headers...)
	if err != nil {
		return got, err
	}
	v.status = got.status
	if id := got.header.Get("Mcp-Session-Id"); id != "" {
		v.session = id
	}
	return got, nil
}

// answer returns the message in an answer to a request with the id 1: the body, or the event of a stream.
func (r reply) answer() []byte {
	if !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		return r.body
	}
	for line := range bytes.Lines(r.body) {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		var head struct{ ID int }
		if ok && json.Unmarshal(data, &head) == nil && head.ID == 1 {
			return data
		}
	}
	return nil
}
