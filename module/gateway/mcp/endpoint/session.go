package endpoint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// session is a session of a server.
type session struct {
	id      string // "" for none
	version string // of the protocol, in place of that of the client; "" for the same
}

// isOfSession reports whether a request without a message is for a session: it asks for the messages of
// the server, or ends the session. The later versions have none.
func (u *use) isOfSession() bool {
	return (u.r.Method == http.MethodGet || u.r.Method == http.MethodDelete) && u.hasSession()
}

// hasSession reports whether the client may have a session, and asks for the messages of the server with GET.
func (u *use) hasSession() bool {
	era, h := u.server.Config.Era, u.r.Header
	return era != mcp.Modern && (era == mcp.Legacy || h.Get(wire.SessionHeader) != "" && !wire.IsStateless(h.Get(wire.VersionHeader)))
}

// sessionKind is what sealed ids of sessions begin with.
const sessionKind = "mcp_"

// openSession opens the sealed id of a session. One of another client is as one that does not exist.
func (u *use) openSession() *fault.Fault {
	sealed := u.r.Header[wire.SessionHeader]
	if len(sealed) == 0 {
		return nil
	}
	account, id, ok := u.site.Seals().IDs(u.answer.Exchange.Owner()).Open(sessionKind, []byte(sealed[0]))
	if !ok || len(sealed) > 1 || account != accountOf(u.server) {
		return fault.MCPUnknownSession()
	}
	u.session.id = string(id)
	return nil
}

// jointKind is what the sealed id of each session begins with in the id of a session of several servers, in
// which the ids are one behind the other.
const (
	jointKind   = "mcps_"
	jointSecond = "." // between two ids
)

// openSessions opens the sealed ids of sessions.
func (u *union) openSessions() *fault.Fault {
	sealed := u.r.Header[wire.SessionHeader]
	if len(sealed) == 0 {
		return nil
	}
	u.sessions = make(map[string]*session)
	ids := u.servers.Seals().IDs(u.answer.Exchange.Owner())
	for one := range strings.SplitSeq(sealed[0], jointSecond) {
		account, content, ok := ids.Open(jointKind, []byte(one))
		version, id, _ := strings.Cut(string(content), " ")
		i := slices.IndexFunc(u.servers.all, func(s *mcp.Server) bool { return account == accountOf(s) })
		switch {
		case !ok || len(sealed) > 1:
			return fault.MCPUnknownSession()
		case i >= 0: // the server may have been removed since
			u.sessions[u.servers.all[i].Name()] = &session{id: id, version: version}
		}
	}
	return nil
}

// sealSessions sets the id of the session of several servers.
func (u *union) sealSessions(begun []*mcp.Server) {
	var all []byte
	ids := u.servers.Seals().IDs(u.answer.Exchange.Owner())
	for _, server := range begun {
		if len(all) > 0 {
			all = append(all, jointSecond...)
		}
		s := u.sessions[server.Name()]
		all = ids.Append(all, jointKind, accountOf(server), []byte(s.version+" "+s.id))
	}
	u.answer.SetHeaders(wire.SessionHeader, string(all))
}

// accountOf returns the account with which sessions of a server are.
func accountOf(s *mcp.Server) seal.Account { return seal.AccountOf(nameOf(s), 0) }
