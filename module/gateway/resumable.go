package gateway

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/promptfile"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// serveResumable answers a request of an upload in several requests, by what its headers state. The session
// is sealed as other ids are, so that only the client that has begun it can send bytes, and none learns the
// address of the provider.
func serveResumable(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	if guard := h.resolved.guards.Checking(answer.Exchange.Key.ID); guard != "" {
		return fault.FileUnseen(guard)
	}
	p := route.Object.Form.Resumable
	command := r.Header.Get(p.Command)
	switch protocol := r.Header.Get(p.Protocol); {
	case r.URL.Query().Has(p.Session):
		return serveSession(h, answer, r, route)
	case protocol == p.Start && command == "start":
		return serveStart(h, answer, r, route)
	case protocol == p.Whole:
		return serveUpload(h, answer, r, route)
	}
	return fault.InvalidField(p.Protocol, "must be '"+p.Start+"', with the command 'start', or '"+p.Whole+"'")
}

// serveStart begins a session.
func serveStart(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	ex, p := answer.Exchange, route.Object.Form.Resumable
	holder, refused := h.holderOf(ex, r, route.Object)
	if refused != nil {
		return refused
	}
	if length, _ := strconv.ParseInt(r.Header.Get(p.Length), 10, 64); length > h.config.MaxUpload {
		return fault.BodyTooLarge(h.config.MaxUpload)
	}
	if ex.Objects.Base = uploadBase(h, r); ex.Objects.Base == "" {
		return fault.AddressUnknown()
	}
	if refused := request.ReadObject(ex, r, h.config.MaxBody, route.Object.Form.Describes); refused != nil {
		return refused
	}
	if _, refused := h.admit(answer, r, nil); refused != nil {
		return refused
	}
	call := ex.Objects.Call
	call.Header, call.MayBeEmpty = headersOf(r, append([]string{p.Protocol, p.Command, p.Length}, p.Others...)), true
	return askHolder(h, holder, answer, r)
}

// unfinished are the files of sessions, over reloads.
var unfinished promptfile.Unfinished

// serveSession sends on bytes of a file, or what the client asks of the session beside that.
func serveSession(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	ex, p := answer.Exchange, route.Object.Form.Resumable
	sealed := p.Kind + r.URL.Query().Get(p.Session)
	objects, account, id, ok := exchange.OpenObject(h.providers.Seals().IDs(ex.Owner()), p.Kind, sealed)
	holder := new(failover.Holder)
	if holder.Provider, holder.APIKey = h.resolved.catalog.Holder(account); !ok || holder.Provider == nil {
		return fault.NoObject(p.Session, p.Kind, observe.Clip(sealed))
	}
	for command := range strings.SplitSeq(r.Header.Get(p.Command), ",") {
		if !slices.Contains(p.Commands, strings.TrimSpace(command)) {
			return fault.InvalidField(p.Command, "must be of "+strings.Join(p.Commands, ", "))
		}
	}
	offset, err := strconv.ParseInt(cmp.Or(r.Header.Get(p.Offset), "0"), 10, 64)
	if err != nil || offset < 0 {
		return fault.InvalidField(p.Offset, "must be a number of bytes")
	}
	if offset > h.config.MaxUpload || r.ContentLength > h.config.MaxUpload-offset {
		return fault.BodyTooLarge(h.config.MaxUpload)
	}
	ex.Objects, objects.Base = objects, baseOf(h, r)
	query := url.Values{p.Session: {id}, "upload_protocol": {p.Start}}
	objects.Call = &exchange.ObjectCall{Method: route.Object.Method, Path: route.Object.Below(r.URL.Path, ""), Query: query.Encode()}
	objects.Call.Header, objects.Call.MayBeEmpty = headersOf(r, []string{p.Command, p.Offset}), true
	if _, refused := h.admit(answer, r, nil); refused != nil {
		return refused
	}
	ends, session := strings.Contains(r.Header.Get(p.Command), p.End), account.String()+" "+id
	var file *promptfile.File
	if r.ContentLength != 0 || ends {
		file = unfinished.Next(session, offset, func() *promptfile.File { return newPromptFile(h, ex, route.Object, holder) })
	}
	if file == nil {
		if r.ContentLength != 0 {
			objects.Call.Upload = request.NewPiece(r, h.config.MaxUpload-offset, nil)
		}
		return askHolder(h, holder, answer, unread(r))
	}
	file.Last = ends
	piece := request.NewPiece(r, h.config.MaxUpload-offset, file)
	objects.Call.Upload, objects.Call.Kind = piece, route.Object.Kind
	var refused *fault.Fault
	if r.ContentLength == 0 {
		refused = piece.End()
	}
	if refused == nil {
		refused = askHolder(h, holder, answer, unread(r))
	}
	if file.Refused() || ex.Course.Result != nil && ex.Course.Result.Whole() {
		unfinished.Put(session, file)
	}
	return refused
}

// unread returns a request without its body, for reverse_proxy, which would read it.
func unread(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = http.NoBody, 0
	return r
}

// headersOf returns the named headers of a request.
func headersOf(r *http.Request, names []string) http.Header {
	h := make(http.Header)
	for _, name := range names {
		if v := r.Header[name]; len(v) == 1 {
			h[name] = v
		}
	}
	return h
}

// uploadBase is baseOf for the address at which clients go on with an upload, which must be absolute: it is
// also that of a site without TLS on this machine, where no key is sent over a network. It returns "" if the
// address is not known.
func uploadBase(h *handler, r *http.Request) string {
	base := baseOf(h, r)
	if addresses := addressesOf(h); strings.HasPrefix(base, "/") && len(addresses) == 1 {
		if u, err := url.Parse(addresses[0]); err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
			base = addresses[0] + aigateway.PathPrefix(r) + base
		}
	}
	if strings.HasPrefix(base, "/") {
		return ""
	}
	return base
}
