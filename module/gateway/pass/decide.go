package pass

import (
	"slices"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Refuse returns why a request is not passed on, whatever it is about, nil if it is. The path is that below the prefix,
// with escapes. allow are the methods of the path, for a fault of the method.
func (c *Config) Refuse(method, path string) (refused *fault.Fault, allow string) {
	if !isPlain(path) {
		return fault.PathAmbiguous(), ""
	}
	var allowed []string
	for _, rule := range c.Allow {
		if rule.hasPath(path) {
			allowed = append(allowed, rule.allowed()...)
		}
	}
	slices.Sort(allowed)
	allowed = slices.Compact(allowed)
	switch {
	case allowed == nil:
		return fault.NotPassed(), ""
	case !slices.Contains(allowed, method):
		return fault.WrongMethod(strings.Join(allowed, " or ")), strings.Join(allowed, ", ")
	case c.denies(method, path), !c.AllowAdmin && administers(path):
		return fault.PassDenied(), ""
	}
	return nil, ""
}

// RefuseObject refuses a request about objects that the provider stores, unless all clients share them.
func (c *Config) RefuseObject(method, path string) *fault.Fault {
	if c.IDs != IDsShared && isObject(method, path) {
		return fault.ObjectNotPassed()
	}
	return nil
}

func (c *Config) denies(method, path string) bool {
	return slices.ContainsFunc(c.Deny, func(rule Rule) bool {
		return rule.hasPath(path) && (rule.Methods == nil || slices.Contains(rule.allowed(), method))
	})
}

// administration are segments of the paths by which vendors let their customers administer an
// account: its users, its API keys and tokens, where it is called back, and what it pays.
var administration = strings.Fields(`
	admin api-keys api_keys apikeys audit_logs billing certificates compliance credits dashboard invites keys oauth
	organization organizations projects provisioning reveal_token roles rotate_token service_accounts tunnels users
	webhook_endpoints webhook_secrets webhooks workspaces`)

// administers reports whether a path is of the administration, in any letters.
func administers(path string) bool {
	return slices.ContainsFunc(segmentsOf(path), func(segment string) bool { return slices.Contains(administration, segment) })
}

// segmentsOf returns the segments of a path in lower case.
func segmentsOf(path string) []string { return strings.Split(strings.ToLower(path[1:]), "/") }

// isObject reports whether a request is about objects that the provider stores. What a vendor adds is
// taken for an object unless it is a call: a POST to a path of words, without an id.
func isObject(method, path string) bool {
	segments := segmentsOf(path)
	if isVersion(segments[0]) {
		segments = segments[1:]
	}
	switch {
	case len(segments) > 0 && segments[0] == "models": // of the provider, for all
		return method != "GET" && method != "HEAD" && method != "POST"
	case method != "POST":
		return true
	}
	return isStored(segments) || slices.ContainsFunc(segments, func(segment string) bool { return strings.ContainsFunc(segment, unicode.IsDigit) })
}

// isVersion reports whether a segment is a version, such as v1 or v1beta.
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && '0' <= segment[1] && segment[1] <= '9'
}

// stored are the beginnings of paths, behind the version, of objects that providers store. A POST to
// one creates an object, or refers to one: a response is stored unless its request forbids it, and
// continues any other one of the account.
var stored = strings.Fields(`
	agents assistants batches cachedcontents containers conversations deployments environments evals files
	fine_tuning/jobs memory_stores messages/batches responses sessions skills threads uploads vaults vector_stores videos`)

// isStored reports whether a path is below one of stored.
func isStored(segments []string) bool {
	path := strings.Join(segments, "/") + "/"
	return slices.ContainsFunc(stored, func(root string) bool { return strings.HasPrefix(path, root+"/") })
}
