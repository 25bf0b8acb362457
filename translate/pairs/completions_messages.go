package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// completionsMessages writes a completions request as a messages request: the
// prompt becomes what the user says.
type completionsMessages struct{ completion }

func completionsToMessages(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	var x completionsMessages
	x.begin(dst, translate.Messages, info)
	x.read(body)
	if raw := x.request.Logprobs; raw != nil {
		x.refuse("logprobs", shownNumber(raw))
	}
	if x.fault == nil {
		x.write()
	}
	return x.end()
}

func (x *completionsMessages) write() {
	x.out = append(x.out, `{"model":`...)
	x.out = jsonscan.AppendString(x.out, x.info.Upstream)
	x.maxTokens(x.request.MaxTokens, "max_tokens")
	if system := x.system(); system != "" {
		x.text("system", system)
	}
	x.name("messages")
	x.out = append(x.out, '[')
	x.writeUserTurn()
	x.out = append(x.out, ']')
	x.writeSampling()
	x.stopSequences(x.request.Stop)
	if x.memory.Stream {
		x.field("stream", []byte("true"))
	}
	x.endUser(x.request.User, "user")
	x.writeExtensions()
	x.out = append(x.out, '}')
}

// writeSampling writes temperature and top_p; the format has nothing else that
// completions have.
func (x *completionsMessages) writeSampling() {
	r := &x.request
	x.sampleMessages(r.Temperature, r.TopP, x.topK)
	x.without("presence_penalty", r.PresencePenalty)
	x.without("frequency_penalty", r.FrequencyPenalty)
	x.without("seed", r.Seed)
	x.without("logit_bias", r.LogitBias)
}
