package endpoint

import (
	"context"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// guard shows the arguments of a message to the guards of the key, whose edits then are in it. Headers that
// repeat arguments are left out behind an edit.
func (u *use) guard() *fault.Fault {
	if u.checks = u.site.Guards.For(u.answer.Exchange, u.site.Logger); u.checks == nil || u.message == nil {
		return nil
	}
	sample := aigateway.GuardText{Kind: aigateway.GuardOther}
	if u.message.IsCall() {
		sample = aigateway.GuardText{Kind: aigateway.GuardCall, Name: u.tool()}
	}
	edited, refused := checked(u.r.Context(), u.checks, guardrails.OnRequest, sample, u.body, u.message.Texts(u.body))
	if refused != nil || edited == nil {
		return refused
	}
	u.body, u.withoutParameters = edited, true
	return nil
}

// guardAnswer shows a message of the server to the guards, whose edits then are in it.
func (c *call) guardAnswer(answer *wire.Answer) *fault.Fault {
	checks := c.use.checks
	if checks == nil {
		return nil
	}
	sample := aigateway.GuardText{Kind: aigateway.GuardToolResult}
	edited, refused := checked(c.ctx, checks, guardrails.OnAnswer, sample, answer.Body, wire.AnswerTexts(answer.Body))
	if edited != nil {
		answer.Body = edited
	}
	return refused
}

// checked returns a document with the edits of the guards in the strings at spans, nil without edits.
func checked(
	ctx context.Context, checks *guardrails.Checks, part string, sample aigateway.GuardText, document []byte, spans []translate.Span,
) ([]byte, *fault.Fault) {
	var texts []string
	for _, span := range spans {
		texts = append(texts, jsonscan.TextOf(document[span.Start:span.End]))
	}
	checked, refused := checks.Strings(ctx, part, sample, slices.Clone(texts))
	if refused != nil {
		return nil, refused
	}
	var edits []edit.Edit
	for i, span := range spans {
		if checked[i] != texts[i] {
			edits = append(edits, edit.Edit{Span: span, With: jsonscan.AppendString(nil, checked[i])})
		}
	}
	if edits == nil {
		return nil, nil
	}
	return edit.Apply(nil, document, edits), nil
}
