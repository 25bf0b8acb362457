package routes

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

const (
	loginPath  = "/api/user/login" // also in the routes of the accounts
	uploadPath = "/upload"

	// ConsolePath is the path of the console of the accounts.
	ConsolePath = "/console/"
)

// longestFirst lists the paths of the route table, the longest first, because some long
// paths end like shorter ones.
var longestFirst = slices.SortedFunc(maps.Keys(endpoints), func(a, b string) int { return len(b) - len(a) })

// noTunnel refuses CONNECT.
func noTunnel() Route {
	const allowed = "GET, POST"
	return Route{Kind: Unknown, Fault: fault.WrongMethod("one of " + allowed), Keyless: true, Allow: allowed}
}

// isOurs reports whether a path is the gateway's, with an endpoint or without.
func isOurs(p string) bool { return IsBelow(p, "/v1") || versionOf(p) != nil }

// isTransfer reports whether clients of the Gemini API upload files to a path, or download them from it.
func isTransfer(p string) bool { return IsBelow(p, uploadPath) || IsBelow(p, format.DownloadRoot) }

// isLogin reports whether a path is meant for logins.
func isLogin(p string) bool {
	name, _ := meant(p)
	return name == loginPath
}

// IsBelow reports whether a path is a version or another beginning of paths, or below it.
func IsBelow(p, root string) bool {
	rest, ok := strings.CutPrefix(p, root)
	return ok && (rest == "" || rest[0] == '/')
}

// versionOf returns the format that has the version at the beginning of a path, nil for none.
func versionOf(p string) *format.Descriptor {
	for _, f := range formats.All() {
		if slices.ContainsFunc(f.Client.Versions, func(version string) bool { return IsBelow(p, version) }) {
			return f
		}
	}
	return nil
}

// refusal returns the route of a request that a format lists as refused, after a check of the
// key. If the path has an endpoint, only the upgrades of connections and methods are refused: other refusals
// are about ids, and the last segment of the path is none.
func refusal(r *http.Request, served bool) (found Route, ok bool) {
	for _, f := range formats.All() {
		for _, refused := range f.Client.Refusals {
			if (!served || refused.Upgrade != "" || refused.Method != "") && matches(r, refused) {
				found = Route{Kind: Call, Format: f, Fault: refused.Fault()}
				if refused.Secret {
					found.Kind, found.Operation = Secret, refused.Operation
				}
				if refused.Upgrade != "" {
					found.Kind, found.Operation = Socket, refused.Operation
				}
				return found, true
			}
		}
	}
	return found, false
}

// isSocket finds the route of a request for a WebSocket whose path has no version of the gateway.
func isSocket(r *http.Request, found *Route) (ok bool) {
	if r.Header.Get("Upgrade") == "" {
		return false
	}
	*found, ok = refusal(r, false)
	return ok && found.Kind == Socket
}

func matches(r *http.Request, refused format.Refusal) bool {
	if refused.Upgrade != "" && !strings.EqualFold(r.Header.Get("Upgrade"), refused.Upgrade) {
		return false
	}
	if refused.Method != "" && r.Method != refused.Method && !(refused.Method == http.MethodGet && r.Method == http.MethodHead) {
		return false
	}
	p := r.URL.Path
	if refused.Upgrade != "" && strings.HasPrefix(p, "//") { // as clients of the Live API of Gemini send it
		p = p[1:]
	}
	return isLike(p, refused.Path) && r.URL.RawPath == ""
}

// unknown returns the route of a request for a path without an endpoint, which is refused: by the
// format that lists it, or else with the path that was probably meant, in the format of that path.
// likely is false if the path resembles none that clients use.
func unknown(r *http.Request, site *backends.Set) (found Route, likely bool) {
	if refused, ok := refusal(r, false); ok {
		return refused, true
	}
	p, prefix := r.URL.Path, aigateway.PathPrefix(r)
	known, reason := unserved(p)
	name, f := meant(p)
	likely = name != "" || known != ""
	if name == "" {
		name = suggest.Nearest(p, longestFirst)
		f = endpoints[name].Format
	}
	found = Route{Kind: Unknown, meant: f, Keyless: true}
	if !IsBelow(p, "/v1") { // at most one format has another version
		found.Format = versionOf(p)
	}
	switch {
	case strings.HasPrefix(p, "/v1/v1/messages"):
		found.Fault = fault.VersionTwice()
	case name == loginPath && site.Accounts == nil:
		found.Fault = fault.NoAccounts()
	case known != "":
		found.Fault = fault.NotServed(prefix, known, reason)
	default:
		found.Fault = fault.UnknownPath(prefix, name)
	}
	return found, likely
}

// meant returns the known path that a client probably means by p: p ends like the known
// path without its /v1, in upper or lower case. It returns "" if there is none. f is the
// format of the returned path, nil for a path without a format.
func meant(p string) (name string, f *format.Descriptor) {
	p = strings.ToLower(path.Clean(p))
	for _, name := range longestFirst {
		if strings.HasSuffix(p, strings.TrimPrefix(name, "/v1")) {
			return name, endpoints[name].Format
		}
	}
	if name, f = meantModel(p); f != nil {
		return name, f
	}
	for _, f := range slices.Concat([]*format.Descriptor{formats.Unspecified()}, formats.All()) {
		for _, path := range idPaths(f) {
			if endsLike(p, strings.TrimPrefix(path, "/v1")) {
				return path, f
			}
		}
	}
	for _, other := range []string{loginPath, ConsolePath} {
		if strings.HasSuffix(p, strings.TrimSuffix(other, "/")) {
			return other, nil
		}
	}
	return "", nil
}

// idPaths returns the paths of a format that are refused, or are those of stored objects.
func idPaths(f *format.Descriptor) (paths []string) {
	for _, refused := range f.Client.Refusals {
		paths = append(paths, refused.Path)
	}
	for _, object := range f.Objects.Paths {
		paths = append(paths, object.Path)
	}
	return paths
}

// meantModel returns the path with the name of a model that a client probably means by p, and
// its format, nil for none. p is in lower case.
func meantModel(p string) (name string, f *format.Descriptor) {
	for _, f := range formats.All() {
		for i := range f.Client.Endpoints {
			e := &f.Client.Endpoints[i]
			if _, suffix, named := e.Around(); named && strings.HasSuffix(p, strings.ToLower(suffix)) {
				return e.Path, f
			}
		}
	}
	return "", nil
}

// isLike reports whether a path matches a pattern, in which the id of an object or of an item is any
// segment.
func isLike(p, pattern string) bool {
	ok, _ := path.Match(anySegment.Replace(pattern), p)
	return ok
}

var anySegment = strings.NewReplacer(format.ObjectPlaceholder, "?*", format.ItemPlaceholder, "?*")

// endsLike is isLike for the last segments of a path, as many as the pattern has.
func endsLike(p, pattern string) bool {
	segments := strings.Split(p, "/")
	start := max(0, len(segments)-strings.Count(pattern, "/"))
	return isLike("/"+strings.Join(segments[start:], "/"), pattern)
}
