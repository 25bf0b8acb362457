package transport

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// rendered is the client's request in the form in which a call sends it.
type rendered struct {
	payload       *payload.Payload
	losses        translate.Losses        // fields of the client's request that are left out
	answerContext translate.AnswerContext // for the translation of the answer; set for translated requests

	// The number of prompts, each of which needs its own calls, and the number of calls
	// for each prompt. Both are 0 without a translation.
	prompts, samples int
}

// prepare renders the client's request. If each prompt needs its own call, it renders the
// first prompt. It returns a fault if the request cannot be sent to this target without
// changing its meaning.
func (c *call) prepare() (rendered, *fault.Fault) {
	if c.attempt.ByteLane() {
		return c.splice()
	}
	return c.translate(0)
}

// splice renders a request in the client's own format: the client's bytes, with the
// edits of this attempt.
func (c *call) splice() (r rendered, fault *fault.Fault) {
	if fault = c.refuseUnchangeable(); fault != nil {
		return r, fault
	}
	filled, fault := c.fillIn()
	if fault != nil {
		return r, fault
	}
	ex := c.attempt.Exchange
	losses := c.removedReasoning()
	if losses != nil {
		if fault = c.refuseShaping(c.info(), losses); fault != nil {
			return r, fault
		}
	}
	if cut, loss := c.attribution(); !cut.Empty() {
		filled = append(filled, edit.Edit{Span: cut})
		losses = append(losses, loss)
	}
	if path := ex.View.Schema; path != "" && !c.attempt.Format.Requests.HasSchemas(c.attempt.Traits) {
		losses = append(losses, translate.Loss{Path: path, Class: translate.Shaping})
		if fault = c.refuseShaping(c.info(), losses); fault != nil {
			return r, fault
		}
	}
	return rendered{payload: payload.Splice(ex.Body, c.edits(filled), ex.Lease), losses: losses}, nil
}

// removedReasoning returns the loss of the reasoning that is cut out of the client's bytes,
// which shapes the answer if a provider has encrypted it.
func (c *call) removedReasoning() translate.Losses {
	path := c.attempt.Exchange.Format.Requests.SelfSigned
	switch {
	case len(c.attempt.Encrypted) > 0:
		return translate.Losses{{Path: path, Class: translate.Shaping}}
	case len(c.attempt.Exchange.View.SelfSigned) > 0:
		return translate.Losses{{Path: path, Class: translate.Hint}}
	default:
		return nil
	}
}

// attribution returns the attribution of an agent in the body if the target does not take
// it, else an empty span, and its loss.
func (c *call) attribution() (translate.Span, translate.Loss) {
	part := &c.attempt.Exchange.Format.Requests.Attribution
	if !c.attempt.Traits.DropAttribution {
		return translate.Span{}, translate.Loss{}
	}
	return part.In(c.attempt.Exchange.Body), translate.Loss{Path: part.Path, Class: translate.Hint}
}

// refuseUnchangeable returns a fault if the request contains something that the provider
// does not take, and that cannot be cut out of the client's bytes.
func (c *call) refuseUnchangeable() *fault.Fault {
	ex := c.attempt.Exchange
	if ex.View.Beyond.State != "" && !c.attempt.Traits.PassState {
		return fault.NeedsState(ex.View.Beyond.State)
	}
	return c.refuseLateSystem()
}

// refuseLateSystem returns a fault for a system turn in the middle of a conversation if the
// provider does not take such turns.
func (c *call) refuseLateSystem() *fault.Fault {
	ex := c.attempt.Exchange
	if ex.View.LateSystem == "" || ex.Operation != translate.Generate || c.attempt.Traits.TakesLateSystem() {
		return nil
	}
	return fault.LateSystem(ex.View.LateSystem)
}

// fillIn returns the edits that join prompt and suffix to one prompt, if the target has a
// template for that.
func (c *call) fillIn() ([]edit.Edit, *fault.Fault) {
	fillIn := c.attempt.Format.Requests.FillIn
	if fillIn == nil || c.attempt.Traits.FIMTemplate == "" {
		return nil, nil
	}
	return fillIn(c.attempt.Exchange.Body, c.info())
}

// translate renders the request in the provider's format, with the prompt of an index.
func (c *call) translate(prompt int) (rendered, *fault.Fault) {
	a, info := c.attempt, c.info()
	info.Prompt = prompt
	source := a.Exchange.Body
	cut, loss := c.attribution()
	if !cut.Empty() {
		source = edit.Apply(nil, source, []edit.Edit{{Span: cut}})
	}
	lease := exchange.NewLease()
	body, r, fault := pairs.Render(lease.Buffer(), a.Exchange.Format.Name, a.Format.Name, source, info)
	lease.Keep(body)
	if !cut.Empty() {
		r.Losses = append(r.Losses, loss)
	}
	if fault == nil {
		fault = c.refuseShaping(info, r.Losses)
	}
	if fault != nil {
		lease.Release()
		return rendered{}, fault
	}
	r.Answer.MaxHeld = int(c.t.MaxEventBytes)
	return rendered{
		payload: payload.New(body, lease),
		losses:  r.Losses, answerContext: r.Answer, prompts: r.Prompts, samples: r.Samples,
	}, nil
}

// info returns the input of a translation other than the body.
func (c *call) info() *core.RequestInfo {
	a := c.attempt
	return &core.RequestInfo{
		Operation: a.Exchange.Operation, Model: a.Exchange.View.Model, Upstream: a.Model, Traits: a.Traits, BytesPerToken: a.BytesPerToken,
		Tenant: a.Tenant, Seals: a.Seals,
	}
}

// refuseShaping returns a fault if a loss shapes the answer, and the model or the client
// refuses such losses.
func (c *call) refuseShaping(info *core.RequestInfo, losses translate.Losses) *fault.Fault {
	strict := c.attempt.Exchange.Strict
	if !strict && !c.attempt.Traits.RejectLosses {
		return nil
	}
	for _, loss := range losses {
		if loss.Class == translate.Shaping {
			return info.RefuseLoss(c.attempt.Format.Name, loss.Path, strict)
		}
	}
	return nil
}
