// Package claude contains what all services with Claude have in common.
package claude

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Traits returns the traits of the models, whose names begin with prefix, which may be a pattern. The
// default for clients that set no bound is the one that coding agents use. Models that the table does
// not have yet take no sampling, as all since Claude Opus 4.7.
func Traits(prefix string) []aigateway.ModelTraits {
	return []aigateway.ModelTraits{{
		Pattern: aigateway.Pattern(prefix + "claude-*"), Traits: map[string]string{"default_max_tokens": "32000", "sampling": "none"},
	}}
}

// laterVersion is the version of the API that clouds know by the name that Anthropic gives it.
const laterVersion = "2026-10-21"

// Version moves the version of a call from its header to the body, and returns the member of the
// body: with the version that the client has asked for if it is a later one, as Anthropic's own
// clients of clouds send it, else with the service's name of the first version.
func Version(call *aigateway.Call, first string) (member string) {
	if call.Header.Get("Anthropic-Version") == laterVersion {
		first = laterVersion
	}
	call.Header.Del("Anthropic-Version")
	return `"anthropic_version":"` + first + `"`
}

const betaHeader = "Anthropic-Beta"

// dependents are the members of requests that need a beta, by the beginning of its names. Members
// without which a request would ask for something else, such as mcp_servers, are not among them:
// the service itself refuses these, and names them.
var dependents = []struct {
	beta    string
	members []string
	class   translate.LossClass
}{
	{"context-management-", []string{"context_management"}, translate.Hint},
	{"compact-", []string{"compaction"}, translate.Hint},
	{"fast-mode-", []string{"speed"}, translate.Hint},
	{"server-side-fallback-", []string{"fallbacks", "fallback_credit_token"}, translate.Hint},
	{"cache-diagnosis-", []string{"diagnostics"}, translate.Hint},
	{"user-profiles-", []string{"user_profile_id"}, translate.Hint},
	{"task-budgets-", []string{"output_config.task_budget"}, translate.Hint},
	{"thinking-display-updates-", []string{"thinking.display=updates"}, translate.Hint},
	{"mid-conversation-system-clear-at-", []string{"messages.*.clear_at"}, translate.Shaping},
	{"message-threads-", []string{"thread"}, translate.Shaping},
}

// KeepBetas leaves out the betas of a call that a service does not know, what depends on them, and
// what no beta allows: the service would refuse the request. It returns those that remain.
func KeepBetas(call *aigateway.Call, known []string) (kept []string) {
	for beta := range strings.SplitSeq(strings.Join(call.Header[betaHeader], ","), ",") {
		switch beta = strings.TrimSpace(beta); {
		case beta == "":
		case slices.Contains(known, beta):
			kept = append(kept, beta)
		default:
			call.Lost.Add(translate.Hint, "anthropic-beta")
		}
	}
	delete(call.Header, betaHeader)
	if kept != nil {
		call.Header[betaHeader] = []string{strings.Join(kept, ",")}
	}
	for _, d := range dependents {
		if slices.ContainsFunc(kept, func(beta string) bool { return strings.HasPrefix(beta, d.beta) }) {
			continue
		}
		for _, member := range d.members {
			call.Body.Unsupported.Add(d.class, member)
		}
	}
	return kept
}
