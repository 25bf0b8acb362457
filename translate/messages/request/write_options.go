package request

import (
	"math"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// writeMaxTokens writes the bound of the answer, in tokens, which the format
// requires, and returns it. A bound that is added is reported.
func writeMaxTokens(members *core.Members, x *core.Translation) int64 {
	n, ok := x.MaxTokens()
	switch {
	case !ok:
		n = x.From.AddedBound(x.To, x.Traits)
		x.Keep(core.NoMaxTokens, nil)
	case n > math.MaxInt32:
		invalidNumber(x, core.MaxTokens, "must be at most "+strconv.Itoa(math.MaxInt32))
	}
	members.Number("max_tokens", n)
	return n
}

// invalidNumber refuses an option that is a number. The message repeats the number unless
// it is long.
func invalidNumber(x *core.Translation, c core.Concept, what string) {
	const longest = 64
	if raw := x.Options.Raw(c); len(raw) <= longest {
		what += ", got " + string(raw)
	}
	x.InvalidOption(c, what)
}

// writeSampling writes the sampling fields that the provider accepts. Beside thinking, it
// accepts neither a temperature other than the default nor top_k.
func writeSampling(members *core.Members, x *core.Translation, thinks bool) {
	o := &x.Options
	if raw := o.Raw(core.Temperature); raw != nil {
		one, _ := jsonscan.Integer(raw)
		if !thinks || one == 1 || keepAs(x, core.TemperatureBesideReasoning, core.Temperature) {
			members.Raw("temperature", clamped(x, raw))
		}
	}
	if o.Has(core.TopP) && (!thinks || keepAs(x, core.TopPBesideReasoning, core.TopP)) {
		members.Option("top_p", &o[core.TopP])
	}
	if raw := o.Raw(core.TopK); raw != nil {
		if _, ok := jsonscan.Integer(raw); !ok {
			x.InvalidOption(core.TopK, "must be an integer")
		}
		if !thinks || keepAs(x, core.TopKBesideReasoning, core.TopK) {
			members.Raw("top_k", raw)
		}
	}
}

// keepAs decides about an option as about another concept.
func keepAs(x *core.Translation, c, option core.Concept) bool {
	return x.KeepAs(c, x.Options[option].Row, nil)
}

// clamped returns a temperature within the bounds of the format, whose maximum is the
// default of other formats.
func clamped(x *core.Translation, raw []byte) []byte {
	switch t, _ := strconv.ParseFloat(string(raw), 64); { // out of range, it is an infinity
	case t < 0:
		invalidNumber(x, core.Temperature, "must be at least 0")
	case t > 1:
		keepAs(x, core.HighTemperature, core.Temperature)
		return []byte("1")
	}
	return raw
}

// maxUser is the length of the longest id of an end user that providers accept, in bytes.
const maxUser = 256

// writeUser writes the id of the end user. It writes the digest of an id that might be a
// mail address or a phone number, which providers refuse.
func writeUser(members *core.Members, x *core.Translation) {
	if !x.Options.Has(core.EndUser) {
		return
	}
	id := x.EndUser(maxUser)
	switch {
	case id == "":
		x.Lose(x.Options[core.EndUser].Row, nil)
		return
	case !translate.PlainName(id):
		keepAs(x, core.TellingEndUser, core.EndUser)
		id = core.DigestOf(id)
	}
	members.Name("metadata")
	*members = append(append(append(*members, `{"user_id":"`...), id...), `"}`...)
}
