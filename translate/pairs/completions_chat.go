package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// completionsChat writes a completions request as a chat request: the prompt
// becomes what the user says.
type completionsChat struct{ completion }

func completionsToChat(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	var x completionsChat
	x.begin(dst, translate.Chat, info)
	x.read(body)
	if x.fault == nil {
		x.write()
	}
	return x.end()
}

func (x *completionsChat) write() {
	x.out = append(x.out, `{"model":`...)
	x.out = jsonscan.AppendString(x.out, x.info.Upstream)
	x.writeMessages()
	x.writeTokens(x.maxTokensField(), x.request.MaxTokens, "max_tokens")
	x.writeN(x.several)
	x.writeSampling()
	x.writeStop()
	if x.memory.Stream {
		x.askStream()
	}
	x.writeLogprobs()
	if raw := x.request.User; raw != nil {
		x.userID(x.str(raw, "user"), "user")
	}
	x.writeExtensions()
	x.out = append(x.out, '}')
}

func (x *completionsChat) writeMessages() {
	x.name("messages")
	x.out = append(x.out, '[')
	if system := x.system(); system != "" {
		role := "system"
		if x.traits.DeveloperRole {
			role = "developer"
		}
		x.out = append(x.out, `{"role":"`+role+`","content":`...)
		x.out = jsonscan.AppendString(x.out, system)
		x.out = append(x.out, "},"...)
	}
	x.writeUserTurn()
	x.out = append(x.out, ']')
}

// writeSampling writes what shapes sampling; all of it has the same name in
// both formats.
func (x *completionsChat) writeSampling() {
	r := &x.request
	x.sample("temperature", r.Temperature, x.traits.SamplingFor(x.to) != translate.SamplingNone)
	x.sample("top_p", r.TopP, x.mayTopP(r.Temperature))
	x.sample("presence_penalty", r.PresencePenalty, x.isNumber("presence_penalty", r.PresencePenalty))
	x.sample("frequency_penalty", r.FrequencyPenalty, x.isNumber("frequency_penalty", r.FrequencyPenalty))
	x.sample("logit_bias", r.LogitBias, true)
	x.sample("seed", r.Seed, true)
}

func (x *completionsChat) writeStop() {
	x.readStops(x.request.Stop, func(string, []byte) {})
	if len(x.memory.Stops) > 0 {
		x.field("stop", x.request.Stop)
	}
}

// writeLogprobs asks for as many alternatives as the client wants.
func (x *completionsChat) writeLogprobs() {
	raw := x.request.Logprobs
	if raw == nil {
		return
	}
	k := x.wantLogprobs(raw, "logprobs")
	x.field("logprobs", []byte("true"))
	x.name("top_logprobs")
	x.out = strconv.AppendInt(x.out, k, 10)
}
