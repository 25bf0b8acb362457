package transport

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// prepared is the client's request in the form in which a call sends it.
type prepared struct {
	payload       *payload.Payload
	losses        translate.Losses         // fields of the client's request that are left out
	answerContext *translate.AnswerContext // for the translation of the answer; nil on the byte lane

	// The number of prompts, each of which needs its own calls, and the number of calls
	// for each prompt. Both are 0 without a translation.
	prompts, samples int
}

// prepare renders the client's request. If each prompt needs its own call, it renders the
// prompt of an index. It returns a fault if the request cannot be sent to this target
// without changing its meaning.
func prepare(a *exchange.Attempt, prompt int, t *Transport, protocol *aigateway.Call) (prepared, *fault.Fault) {
	if o := a.Object(); o != nil {
		return prepared{payload: payload.Splice(a.Exchange.Request.Body, o.Edits, a.Exchange.Request.Lease)}, nil
	}
	if a.ByteLane() {
		return splice(a, protocol)
	}
	source := a.Exchange.Request.Body
	cut, loss := attribution(a)
	if !cut.Empty() {
		source = edit.Apply(nil, source, []edit.Edit{{Span: cut}})
	}
	info := requestInfo(a)
	info.Prompt = prompt
	if cut.Empty() {
		info.Texts = a.Exchange.Request.View.Texts
	}
	lease := exchange.NewLease()
	body, r, fault := render(lease.Buffer(), a, source, info)
	lease.Keep(body)
	if len(r.Texts) > 0 {
		lease.Refer(a.Exchange.Request.Lease)
	}
	if !cut.Empty() {
		r.Losses = append(r.Losses, loss)
	}
	edits := r.Texts
	if fault == nil {
		demanded, lost := bodyEdits(protocol, body)
		edits = merged(demanded, edits)
		r.Losses = append(r.Losses, lost...)
		fault = refuseShaping(a, r.Losses)
	}
	if fault != nil {
		lease.Release()
		return prepared{}, fault
	}
	answerContext := r.Answer
	answerContext.MaxHeld = int(t.MaxEventBytes)
	p := splicedBody(protocol, body, edits, lease)
	lease.Release()
	return prepared{p, r.Losses, &answerContext, r.Prompts, r.Samples}, nil
}

// render translates a request.
func render(dst []byte, a *exchange.Attempt, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault) {
	client := a.Exchange.Request.Format
	if a.Exchange.Request.Operation.Embeds() {
		return client.Embeddings.Request(dst, body, info)
	}
	return pairs.RenderInParts(dst, client.Name, a.Format.Name, body, info)
}

// merged returns the edits that a protocol demands together with others in what it keeps. Both are
// in the order of the body, and so is the result. A client decides how many there are of both.
func merged(demanded, others []edit.Edit) []edit.Edit {
	if len(demanded) == 0 {
		return others
	}
	edits, leftOut := make([]edit.Edit, 0, len(demanded)+len(others)), -1 // the end of what is left out
	for _, e := range others {
		for len(demanded) > 0 && demanded[0].Start <= e.Start {
			leftOut = demanded[0].End
			edits, demanded = append(edits, demanded[0]), demanded[1:]
		}
		if e.End > leftOut {
			edits = append(edits, e)
		}
	}
	return append(edits, demanded...)
}

// sorted sorts edits in the order of the body.
func sorted(edits []edit.Edit) []edit.Edit {
	slices.SortStableFunc(edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return edits
}

// renamed returns the edits of a request beside text after which it names the model of the provider.
func renamed(a *exchange.Attempt) (edits []edit.Edit) {
	ex := a.Exchange
	places := ex.Request.Format.Requests.ModelNames
	if places == nil {
		return []edit.Edit{passthrough.Rename(ex.Request.Body, &ex.Request.View, a.Model)}
	}
	for _, place := range places(ex.Request.Body) {
		edits = append(edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, modelName(a))})
	}
	return edits
}

// splice renders a request in the client's own format: the client's bytes, with the edits
// of this attempt. It makes no other changes: it inserts no defaults, and reorders and
// repairs nothing.
func splice(a *exchange.Attempt, protocol *aigateway.Call) (prepared, *fault.Fault) {
	ex, view := a.Exchange, &a.Exchange.Request.View
	if f := refuseState(a); f != nil {
		return prepared{}, f
	}
	if view.LateSystem != "" && ex.Request.Operation == translate.Generate && !a.Traits.TakesLateSystem() {
		return prepared{}, fault.LateSystem(view.LateSystem)
	}
	edits, losses := acceptedEdits(a, protocol)
	if a.Model != view.Model && ex.Request.Operation.Beside() {
		edits = append(edits, renamed(a)...)
	} else if a.Model != view.Model && !view.ModelSpan.Empty() && !isLeftOut(edits, view.ModelSpan) {
		edits = append(edits, edit.Edit{Span: view.ModelSpan, With: jsonscan.AppendString(nil, modelName(a))})
	}
	if a.SealsObjects() {
		edits = append(edits, ex.Objects.Edits()...)
	}
	if asksUsage(a) {
		edits = append(edits, a.Format.Answers.Usage.Ask(ex.Request.Body, &view.StreamUsage))
	}
	if fillIn := a.Format.Requests.FillIn; fillIn != nil && a.Traits.FIMTemplate != "" { // prompt and suffix become one prompt
		joined, fault := fillIn(ex.Request.Body, requestInfo(a))
		if fault != nil {
			return prepared{}, fault
		}
		edits = append(edits, joined...)
	}
	cuts, class := view.SelfSigned, translate.Hint
	if len(a.Encrypted) > 0 { // reasoning that a provider has encrypted shapes the answer
		cuts, class = a.Encrypted, translate.Shaping
	}
	for _, cut := range cuts {
		edits = append(edits, edit.Edit{Span: cut})
	}
	for _, signature := range view.Resigned {
		edits = append(edits, edit.Edit{Span: signature, With: ex.Request.Format.Requests.Resigned})
	}
	if len(cuts)+len(view.Resigned) > 0 {
		losses = append(losses, translate.Loss{Path: ex.Request.Format.Requests.SelfSigned, Class: class})
	}
	if cut, loss := attribution(a); !cut.Empty() {
		edits = append(edits, edit.Edit{Span: cut})
		losses = append(losses, loss)
	}
	if view.Schema != "" && !a.Format.Requests.HasSchemas(a.Traits) {
		losses.Add(translate.Shaping, view.Schema)
	}
	if fault := refuseShaping(a, losses); fault != nil {
		return prepared{}, fault
	}
	return prepared{payload: splicedBody(protocol, ex.Request.Body, sorted(edits), ex.Request.Lease), losses: losses}, nil
}

// refuseState refuses a request that refers to what the provider stores, unless the client gets
// such objects from the provider.
func refuseState(a *exchange.Attempt) *fault.Fault {
	request := &a.Exchange.Request
	beyond := &request.View.Beyond
	ids := beyond.ObjectIDs()
	switch state := a.Traits.ResponsesState; {
	case state == trait.StateOff && request.InMessage && len(ids) > 0 && ids[0].Path == beyond.State: // of another socket, or of none
		return request.NoObject(&ids[0])
	case state == trait.StateOff && beyond.State != "":
		return fault.NeedsState(beyond.State)
	case state == trait.StateSealed && beyond.References != nil && beyond.References.Unowned != "":
		return fault.NeedsOwner(beyond.References.Unowned)
	}
	return nil
}

// acceptedEdits returns the edits of the client's body that a protocol demands, and those that what
// the model refuses demands. It also returns what is lost.
func acceptedEdits(a *exchange.Attempt, protocol *aigateway.Call) (edits []edit.Edit, lost translate.Losses) {
	ex, source := a.Exchange, a.Format.Requests.Source
	if ex.Request.Operation.Embeds() && a.Traits.NoEncodingFormat {
		changed := *protocol
		changed.Body.Without = append(slices.Clip(protocol.Body.Without), "encoding_format")
		return bodyEdits(&changed, ex.Request.Body)
	}
	if source == nil || ex.Request.Operation != translate.Generate && ex.Request.Operation != translate.CountTokens {
		return bodyEdits(protocol, ex.Request.Body)
	}
	unaccepted := source.Unaccepted(ex.Request.Body, &ex.Request.View, a.Traits)
	if unaccepted.Empty() {
		return bodyEdits(protocol, ex.Request.Body)
	}
	changed := *protocol
	changed.Body.Unsupported = slices.Concat(protocol.Body.Unsupported, unaccepted.Members)
	changed.Body.Without = slices.Concat(protocol.Body.Without, unaccepted.Moved)
	edits, lost = bodyEdits(&changed, ex.Request.Body)
	return merged(edits, sorted(unaccepted.Edits)), slices.Concat(lost, unaccepted.Changed)
}

// modelName returns the provider's name of the model as bodies state it.
func modelName(a *exchange.Attempt) string {
	if nameOf := a.Format.Requests.ModelName; nameOf != nil {
		return nameOf(a.Model)
	}
	return a.Model
}

// asksUsage reports whether the gateway adds the option for the usage of a stream to the
// request, because the client has not set it.
func asksUsage(a *exchange.Attempt) bool {
	request := &a.Exchange.Request
	return request.Operation == translate.Generate && request.Streaming() && !request.View.StreamUsage.Asked &&
		!a.Traits.WithoutUsage && a.Format.Answers.Usage.Ask != nil
}

// attribution returns the attribution of an agent in the body if the target does not take
// it, else an empty span, and its loss.
func attribution(a *exchange.Attempt) (translate.Span, translate.Loss) {
	if !a.Traits.DropAttribution {
		return translate.Span{}, translate.Loss{}
	}
	part := &a.Exchange.Request.Format.Requests.Attribution
	return part.In(a.Exchange.Request.Body), translate.Loss{Path: part.Path, Class: translate.Hint}
}

// requestInfo returns the input of a translation other than the body.
func requestInfo(a *exchange.Attempt) *core.RequestInfo {
	request := &a.Exchange.Request
	return &core.RequestInfo{
		Operation: request.Operation, Stream: request.Streaming(), Model: request.View.Model, Upstream: a.Model,
		Traits: a.Traits, BytesPerToken: a.BytesPerToken, Tenant: a.Exchange.Tenant(), Seals: a.Seals,
	}
}

// refuseShaping returns a fault if a loss shapes the answer, and the model or the client
// refuses such losses.
func refuseShaping(a *exchange.Attempt, losses translate.Losses) *fault.Fault {
	strict := a.Exchange.Request.Strict
	if !strict && !a.Traits.RejectLosses {
		return nil
	}
	for _, loss := range losses {
		if loss.Class == translate.Shaping {
			return requestInfo(a).RefuseLoss(a.Format.Name, loss.Path, strict)
		}
	}
	return nil
}
