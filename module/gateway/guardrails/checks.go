package guardrails

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// Checks are the checks of one exchange.
type Checks struct {
	Exchange *exchange.Exchange

	guards []*guard
	log    *contentLog // nil if the exchange is not logged
	logger *zap.Logger
	socket *exchange.Message // whose request is checked; nil for none
}

// block is the reason why texts do not pass.
type block struct {
	guard, rule string
	err         error // the guard could not check the texts
}

// kinds are the kinds of texts as guards name them.
var kinds = [...]aigateway.GuardKind{
	texts.Other: aigateway.GuardOther, texts.System: aigateway.GuardSystem, texts.User: aigateway.GuardUser,
	texts.Assistant: aigateway.GuardAssistant, texts.Result: aigateway.GuardToolResult, texts.Call: aigateway.GuardCall,
	texts.Tool: aigateway.GuardTool, texts.Server: aigateway.GuardServer, texts.Reasoning: aigateway.GuardReasoning,
}

// view returns a view of the exchange without texts.
func (c *Checks) view(phase aigateway.GuardPhase) *aigateway.GuardView {
	ex := c.Exchange
	return &aigateway.GuardView{
		Phase: phase, RequestID: ex.ID, Key: ex.Key.ID, Owner: ex.Key.Owner,
		Format: string(ex.Request.Format.Name), Model: ex.Request.View.Model,
	}
}

var errEdits = errors.New("the guard has returned edits that are out of order, or out of their texts")

// ask asks a guard. It returns why the texts do not pass, nil if they do, perhaps with edits.
func (c *Checks) ask(ctx context.Context, g *guard, v *aigateway.GuardView) (aigateway.GuardVerdict, *block) {
	verdict, err := g.Guard.Check(ctx, v)
	switch {
	case err == nil && !areInOrder(verdict.Edits, v.Texts):
		err = errEdits
		fallthrough
	case err != nil:
		c.noteCut(g.Name, v.Phase)
		metrics.GuardVerdict(g.Name, metrics.GuardFailed)
		c.logger.Error("guard failed", append(c.fields(g.Name, v.Phase), zap.Error(err))...)
		return verdict, &block{guard: g.Name, err: err}
	case verdict.Block != "":
		return verdict, c.blocked(g.Name, verdict.Block, v.Phase)
	case verdict.Unchecked:
		metrics.GuardVerdict(g.Name, metrics.GuardUnchecked)
		if !slices.Contains(c.Exchange.Unchecked, g.Name) {
			c.Exchange.Unchecked = append(c.Exchange.Unchecked, g.Name)
		}
		c.logger.Warn("content was not checked", c.fields(g.Name, v.Phase)...)
	}
	return verdict, nil
}

// blocked logs and counts that a rule blocks a text.
func (c *Checks) blocked(guard, rule string, phase aigateway.GuardPhase) *block {
	c.noteCut(guard, phase)
	metrics.GuardVerdict(guard, metrics.GuardBlocked)
	c.logger.Info("content blocked", append(c.fields(guard, phase), zap.String("rule", rule))...)
	return &block{guard: guard, rule: rule}
}

// noteCut notes for the WebSocket that an answer did not pass: the next request could have it repeated.
func (c *Checks) noteCut(guard string, phase aigateway.GuardPhase) {
	if phase != aigateway.GuardRequest {
		c.socket.NoteCut(guard)
	}
}

func (c *Checks) fields(guard string, phase aigateway.GuardPhase) []zap.Field {
	return []zap.Field{
		zap.String("request_id", c.Exchange.ID), zap.String("key_id", c.Exchange.Key.ID), zap.String("guard", guard), zap.String("phase", string(phase)),
	}
}

// areInOrder reports whether edits are within their texts, in order, and do not overlap.
func areInOrder(edits []aigateway.GuardEdit, all []aigateway.GuardText) bool {
	for i, e := range edits {
		if e.Text < 0 || e.Text >= len(all) || e.Start < 0 || e.End < e.Start || e.End > len(all[e.Text].Text) {
			return false
		}
		if i > 0 && (edits[i-1].Text > e.Text || edits[i-1].Text == e.Text && edits[i-1].End > e.Start) {
			return false
		}
	}
	return true
}

// sees reports whether the guard checks texts of a kind.
func (g *guard) sees(kind aigateway.GuardKind) bool { return slices.Contains(g.kinds, kind) }

// requestFault returns the fault of a request that does not pass.
func (b *block) requestFault() *fault.Fault {
	if b.err != nil {
		return fault.GuardFailed(b.guard, b.err)
	}
	return fault.ContentBlocked(b.guard, b.rule)
}
