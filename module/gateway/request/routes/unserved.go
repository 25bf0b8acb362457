package routes

import (
	"path"
	"slices"
	"strings"
)

// unservedPaths are endpoints of providers that the gateway does not serve, behind the version, by the
// reason for it. Without them, a client of one would be advised to check its base URL. A path
// precedes those that are its beginning.
var unservedPaths = []struct{ reason, paths string }{
	{"its vendor has retired it", `images/variations`},
	{"all clients would share what it keeps in the account of the provider", `
		agents assistants audio/voice_consents audio/voices auth_tokens batches batchPredictionJobs cachedContents
		chat/deferred-completion chatkit containers corpora deployment_runs deployments dreams environments evals
		files fileSearchStores fine_tuning interactions libraries memory_stores messages/batches operations prompts
		sessions skills threads triggers tunedModels tuningJobs tunnels uploads user_profiles vaults vector_stores
		videos voices`},
	{"it administers the account of the provider", `
		compliance credentials organization organizations projects safety webhook_endpoints webhook_event_types webhooks`},
	{"the gateway cannot limit what it uses", `
		audio classifications content_provenance_checks decisions fim images language-models live ocr realtime/calls
		realtime/client_secrets realtime/sessions realtime/transcription_sessions realtime/translations realtime score
		tokenize tokenize-text`},
}

// AgentRoots are the paths of the sign-in of agents, which sites with agents have.
var AgentRoots = []string{"/protocol", "/oauth", "/.well-known/oauth-authorization-server", "/managed/settings", "/api/oauth/usage"}

// unservedRoots are paths without a version that clients ask a gateway for: whether it signs
// clients in, and where to upload and download files.
var unservedRoots = append(slices.Clone(AgentRoots), uploadPath, "/download/v1beta", "/download/v1")

// unserved returns the endpoint that a path is or is below, if it is one of unservedPaths or
// unservedRoots, else "", and why the gateway does not serve it, if that has a reason.
func unserved(p string) (known, reason string) {
	p = path.Clean(p)
	for _, root := range unservedRoots {
		if IsBelow(p, root) {
			return root, ""
		}
	}
	if !isOurs(p) {
		return "", ""
	}
	version, name, _ := strings.Cut(p[1:], "/")
	for _, group := range unservedPaths {
		for known := range strings.FieldsSeq(group.paths) {
			if rest, ok := strings.CutPrefix(name, known); ok && (rest == "" || rest[0] == '/' || rest[0] == ':') {
				return "/" + version + "/" + known, group.reason
			}
		}
	}
	return "", ""
}
