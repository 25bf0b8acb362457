// Package marks reads what coding agents state of themselves in their requests: the session, the agent
// within it, and whether that is a subagent.
//
// A text of the conversation is never taken for a mark. The package refuses nothing: clients state what they
// like, and a request of another client has no marks.
package marks

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// ofSubagent is in the line with which Claude Code attributes the request of a subagent to itself.
var ofSubagent = []byte("cc_is_subagent=true")

// Text returns the text of the first source that a request has, "" for none, and that source.
func Text(ex *exchange.Exchange, sources affinity.Sources) (string, affinity.Source) {
	body := ex.Request.Body
	if passthrough.IsForm(body) {
		body = nil // which has no members
	}
	return sources.Text(ex.Request.Client.Get, body)
}

// Session returns the id of the session, "" for none. It differs from what keeps requests together by
// default, since no user is a session.
func Session(ex *exchange.Exchange) string { return text(ex, affinity.Sessions) }

// Agent returns the id of the agent within its session, "" for none.
func Agent(ex *exchange.Exchange) string { return text(ex, affinity.Agents) }

func text(ex *exchange.Exchange, sources affinity.Sources) string {
	text, _ := Text(ex, sources)
	return text
}

// IsOfSubagent reports whether a request is that of a subagent, or work in the background.
func IsOfSubagent(ex *exchange.Exchange) bool {
	if text(ex, affinity.Subagents) != "" {
		return true
	}
	if passthrough.IsForm(ex.Request.Body) || ex.Request.Format == nil {
		return false
	}
	line := ex.Request.Format.Requests.Attribution.In(ex.Request.Body)
	return bytes.Contains(ex.Request.Body[line.Start:line.End], ofSubagent)
}
