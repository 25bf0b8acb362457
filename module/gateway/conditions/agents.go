package conditions

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// ofSubagent is in the line with which Claude Code attributes the request of a subagent to itself.
var ofSubagent = []byte("cc_is_subagent=true")

// stated returns the text of the first source that the request has, "" for none.
func (v *values) stated(sources affinity.Sources) string {
	body := v.Body
	if passthrough.IsForm(body) {
		body = nil // which has no members
	}
	text, _ := sources.Text(v.Client.Get, body)
	return text
}

// isOfSubagent reports whether a coding agent marks the request as that of a subagent, or as work in the
// background.
func (v *values) isOfSubagent() bool {
	if v.stated(affinity.Subagents) != "" {
		return true
	}
	if passthrough.IsForm(v.Body) {
		return false
	}
	line := v.Format.Requests.Attribution.In(v.Body)
	return bytes.Contains(v.Body[line.Start:line.End], ofSubagent)
}
