package gateway

import (
	"net/http"
	"path"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// unservedPaths are endpoints of providers that the gateway does not serve, behind the version.
// Without them, a client of one would be advised to check its base URL. "{id}" is any segment.
var unservedPaths = strings.Fields(`
	agents assistants audio auth_tokens batches cachedContents chat/completions/{id} chat/completions/{id}/messages chat/deferred-completion
	chatkit classifications compliance containers content_provenance_checks conversations corpora decisions
	deployment_runs deployments dreams environments evals files fileSearchStores fim fine_tuning images
	interactions language-models libraries live memory_stores messages/batches ocr operations organization
	organizations projects prompts realtime safety score sessions skills threads tokenize tokenize-text
	tunedModels tunnels uploads user_profiles vaults vector_stores videos webhook_endpoints webhook_event_types`)

// unservedRoots are paths without a version that clients ask a gateway for: whether it signs
// clients in, and where to upload files.
var unservedRoots = []string{"/protocol", "/oauth", "/upload"}

// unserved returns the endpoint that a path is or is below, if it is one of unservedPaths or
// unservedRoots, else "".
func unserved(p string) string {
	p = path.Clean(p)
	for _, root := range unservedRoots {
		if isBelow(p, root) {
			return root
		}
	}
	if !isOurs(p) {
		return ""
	}
	version, name, _ := strings.Cut(p[1:], "/")
	for _, known := range unservedPaths {
		if isLike(name, known) || strings.HasPrefix(name, known+"/") {
			return "/" + version + "/" + known
		}
	}
	return ""
}

// noEndpoint returns an endpoint that refuses an unknown path. The answer names the path
// that was probably meant, in the format of that path.
func noEndpoint(p string) endpoint {
	name, f := meant(p)
	if name == "" {
		name = suggest.Nearest(p, longestFirst)
		f = endpoints[name].format
	}
	e := endpoint{meant: f, list: true}
	if !isBelow(p, "/v1") { // at most one format has another version
		e.format = versionOf(p)
	}
	e.serve = func(h *Handler, _ *reply.Reply, r *http.Request) *fault.Fault {
		known, prefix := unserved(p), aigateway.PathPrefix(r)
		switch {
		case strings.HasPrefix(p, "/v1/v1/messages"):
			return fault.VersionTwice()
		case name == loginPath && h.backends.Accounts == nil:
			return fault.NoAccounts()
		case known != "":
			return fault.NotServed(prefix, known)
		}
		return fault.UnknownPath(prefix, name)
	}
	return e
}
