package pairs

import (
	"math"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// What follows writes the members of messages requests that chat and
// completions requests have under names that they share.

// maxTokens writes the bound of the answer, which the format demands: that of
// the client's member, or the default where it sent none.
func (x *conversion) maxTokens(raw []byte, member string) int64 {
	n := x.traits.MaxTokens()
	if raw == nil {
		x.hint("max_tokens")
	} else if n, _ = integer(raw); n > math.MaxInt32 {
		x.invalid(member, "must be at most "+strconv.Itoa(math.MaxInt32)+", got "+shownNumber(raw))
	}
	n = x.boundTokens(n, member)
	x.name("max_tokens")
	x.out = strconv.AppendInt(x.out, n, 10)
	return n
}

// sampleMessages writes what the format has to shape sampling.
func (x *conversion) sampleMessages(temperature, topP, topK []byte) {
	x.sample("temperature", x.clamped(temperature), x.traits.SamplingFor(x.to) != translate.SamplingNone)
	x.sample("top_p", topP, x.mayTopP(temperature))
	x.sample("top_k", topK, x.traits.SamplingFor(x.to) != translate.SamplingNone)
	if _, ok := integer(topK); topK != nil && !ok {
		x.invalid("top_k", "must be an integer")
	}
}

// clamped is a temperature within the bounds of the format, which ends where
// the other has its default.
func (x *conversion) clamped(raw []byte) []byte {
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

// without reports the loss of a member that the format has no place for, unless
// it asks for nothing.
func (x *conversion) without(name string, raw []byte) {
	if raw != nil && !isZero(raw) && !isEmptyList(raw) {
		x.shaping(name)
	}
}

// isZero reports whether a raw value is a number equal to zero.
func isZero(raw []byte) bool {
	f, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && f == 0
}

// stopSequences sends the stop texts that the format takes. Those of only white
// space it does not: they are left to whoever writes the answer.
func (x *conversion) stopSequences(raw []byte) {
	var sent []byte
	x.readStops(raw, func(path string, raw []byte) {
		switch text := textOf(raw); {
		case text == "":
			x.refuse(path, "")
		case strings.TrimSpace(text) == "":
			x.enforce(text)
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

// enforce keeps a stop text that the provider does not get.
func (x *conversion) enforce(text string) {
	if x.fault == nil && !x.memory.AddEnforced(text) {
		x.fault = x.info.RefuseStops(x.to, "stop")
	}
}

// maxMessagesUser is the longest id of a user that messages providers take.
const maxMessagesUser = 256

// endUser tells the provider who the end user is. Ids that might be a mail
// address or a phone number are refused there, so they go as a digest.
func (x *conversion) endUser(raw []byte, member string) {
	if raw == nil {
		return
	}
	id := x.str(raw, member)
	if id == "" || x.traits.UserField == translate.UserFieldNone {
		x.hint(member)
		return
	}
	if len(id) > maxMessagesUser || !translate.PlainName(id) {
		id = digestOf(id)
		x.shaping(member)
	}
	x.name("metadata")
	x.out = append(x.out, `{"user_id":"`+id+`"}`...)
}
