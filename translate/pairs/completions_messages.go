package pairs

import (
	"math"
	"strconv"
	"strings"

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
	x.writeMaxTokens()
	if system := x.system(); system != "" {
		x.text("system", system)
	}
	x.name("messages")
	x.out = append(x.out, '[')
	x.writeUserTurn()
	x.out = append(x.out, ']')
	x.writeSampling()
	x.writeStop()
	if x.memory.Stream {
		x.field("stream", []byte("true"))
	}
	x.writeUser()
	x.out = append(x.out, x.more...)
	x.out = append(x.out, '}')
}

// writeMaxTokens writes the bound of the answer, which the format demands.
func (x *completionsMessages) writeMaxTokens() {
	n := x.traits.MaxTokens()
	if raw := x.request.MaxTokens; raw == nil {
		x.hint("max_tokens")
	} else if n, _ = integer(raw); n > math.MaxInt32 {
		x.invalid("max_tokens", "must be at most "+strconv.Itoa(math.MaxInt32)+", got "+shownNumber(raw))
	}
	x.name("max_tokens")
	x.out = strconv.AppendInt(x.out, n, 10)
}

// writeSampling writes temperature and top_p; the format has nothing else that
// completions have.
func (x *completionsMessages) writeSampling() {
	r := &x.request
	x.sample("temperature", x.clamped(r.Temperature), x.traits.SamplingFor(x.to) != translate.SamplingNone)
	x.sample("top_p", r.TopP, x.mayTopP(r.Temperature))
	x.sample("top_k", x.topK, x.traits.SamplingFor(x.to) != translate.SamplingNone)
	if _, ok := integer(x.topK); x.topK != nil && !ok {
		x.invalid("top_k", "must be an integer")
	}
	for _, f := range [...]struct {
		name string
		raw  []byte
	}{{"presence_penalty", r.PresencePenalty}, {"frequency_penalty", r.FrequencyPenalty}, {"seed", r.Seed}, {"logit_bias", r.LogitBias}} {
		if f.raw != nil && !isZero(f.raw) && !isEmptyList(f.raw) {
			x.shaping(f.name)
		}
	}
}

// clamped is a temperature within the bounds of the format, which ends where
// the other has its default.
func (x *completionsMessages) clamped(raw []byte) []byte {
	if raw == nil {
		return nil
	}
	switch t, _ := strconv.ParseFloat(string(raw), 64); { // an infinity tells a range error
	case t < 0:
		x.invalid("temperature", "must be at least 0, got "+shownNumber(raw))
	case t > 1:
		x.shaping("temperature")
		return []byte("1")
	}
	return raw
}

// isZero reports whether a raw value is a number equal to zero.
func isZero(raw []byte) bool {
	f, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && f == 0
}

// writeStop sends the stop texts that the format takes. Those of only white
// space it does not: they are left to whoever writes the answer.
func (x *completionsMessages) writeStop() {
	var sent []byte
	x.readStops(func(path string, raw []byte) {
		switch text := textOf(raw); {
		case text == "":
			x.refuse(path, "")
		case strings.TrimSpace(text) == "":
			x.memory.Enforce = append(x.memory.Enforce, text)
		default:
			sent = append(append(sent, ','), raw...)
		}
	})
	if sent == nil {
		return
	}
	sent[0] = '['
	x.field("stop_sequences", append(sent, ']'))
}

// maxMessagesUser is the longest id of a user that messages providers take.
const maxMessagesUser = 256

// writeUser tells the provider who the end user is. Ids that might be a mail
// address or a phone number are refused there, so they go as a digest.
func (x *completionsMessages) writeUser() {
	raw := x.request.User
	if raw == nil {
		return
	}
	id := x.str(raw, "user")
	if id == "" || x.traits.UserField == translate.UserFieldNone {
		x.hint("user")
		return
	}
	if len(id) > maxMessagesUser || !translate.PlainName(id) {
		id = digestOf(id)
	}
	x.name("metadata")
	x.out = append(x.out, `{"user_id":"`+id+`"}`...)
}
