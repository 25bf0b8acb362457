package demo

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// seals makes answers have the signatures of this provider. Their emitters would seal those of
// others.
var seals = func() *seal.Sealer {
	ring, err := seal.NewRing(make([]byte, seal.MinKey))
	if err != nil {
		panic(err)
	}
	return ring.For("demo", "")
}()

// read reads a request to the model.
func (x *exchange) read(op translate.Operation) (*reply.Request, *fault.Fault) {
	d := x.route.format
	view, refused := d.Requests.Inspect(x.body, op)
	if refused != nil {
		return nil, refused
	}
	if x.route.model == "" {
		x.route.model = view.Model
	}
	if !x.engine.knows(x.route.model) {
		return nil, fault.UnknownModel(x.route.model)
	}
	info := core.RequestInfo{Operation: op, Stream: x.route.stream, Model: x.route.model, Seals: seals}
	return reply.Read(d, x.body, &view, info, x.engine.strict)
}

// countTokens answers a request that only counts its input.
func (x *exchange) countTokens() {
	request, refused := x.read(translate.CountTokens)
	if refused != nil {
		x.refuse(refused)
		return
	}
	x.writeJSON(http.StatusOK, x.route.format.Answers.TokenCount(nil, int64(request.Size.InputTokens())))
}

// generate answers a request to the model.
func (x *exchange) generate() {
	request, refused := x.read(translate.Generate)
	if refused != nil {
		x.refuse(refused)
		return
	}
	if x.misbehave(&request.Faults) {
		return
	}
	d, answer := x.route.format, reply.Compose(request, x.seed)
	context, ids := answer.Context(), translate.IDs{Message: d.Client.AnswerID + answer.ID(), Created: answer.Created, Model: answer.Request.Model}
	w := writing{x, answer, ids, d.Answers.NewEmitter(context, ids)}
	if context.Stream {
		w.stream()
	} else {
		w.whole()
	}
}

// writing is the state of an answer that is written.
type writing struct {
	*exchange
	answer  *reply.Answer
	ids     translate.IDs
	emitter format.Emitter
}
