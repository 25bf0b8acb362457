package request

import (
	"math"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// writeMaxTokens writes the bound of the answer, in tokens, which the format
// requires, and returns it. A bound that is added is reported.
func (w *requestWriter) writeMaxTokens() int64 {
	n, ok := w.x.MaxTokens()
	switch {
	case !ok:
		n = w.x.From.AddedBound(w.x.To, w.x.Traits)
		w.x.Keep(core.NoMaxTokens, nil)
	case n > math.MaxInt32:
		w.invalidNumber(core.MaxTokens, "must be at most "+strconv.Itoa(math.MaxInt32))
	}
	w.out.Number("max_tokens", n)
	return n
}

// invalidNumber refuses an option that is a number. The message repeats the number unless
// it is long.
func (w *requestWriter) invalidNumber(c core.Concept, what string) {
	const longest = 64
	if raw := w.x.Options.Raw(c); len(raw) <= longest {
		what += ", got " + string(raw)
	}
	w.x.InvalidOption(c, what)
}

// writeSampling writes the sampling fields that the provider accepts. Beside thinking, it
// accepts neither a temperature other than the default nor top_k.
func (w *requestWriter) writeSampling(thinks bool) {
	o := &w.x.Options
	if raw := o.Raw(core.Temperature); raw != nil && (!thinks || isOne(raw) || w.keepAs(core.TemperatureBesideReasoning, core.Temperature)) {
		w.out.Raw("temperature", w.clamped(raw))
	}
	if raw := o.Raw(core.TopP); raw != nil {
		w.out.Raw("top_p", raw)
	}
	raw := o.Raw(core.TopK)
	if _, ok := jsonscan.Integer(raw); raw != nil && !ok {
		w.x.InvalidOption(core.TopK, "must be an integer")
	}
	if raw != nil && (!thinks || w.keepAs(core.TopKBesideReasoning, core.TopK)) {
		w.out.Raw("top_k", raw)
	}
}

// keepAs decides about an option as about another concept.
func (w *requestWriter) keepAs(c, option core.Concept) bool {
	return w.x.KeepAs(c, w.x.Options[option].Row, nil)
}

// isOne reports whether a raw number is 1, the default of the temperature.
func isOne(raw []byte) bool {
	n, _ := jsonscan.Integer(raw)
	return n == 1
}

// clamped returns a temperature within the bounds of the format, whose maximum is the
// default of other formats.
func (w *requestWriter) clamped(raw []byte) []byte {
	switch t, _ := strconv.ParseFloat(string(raw), 64); { // out of range, it is an infinity
	case t < 0:
		w.invalidNumber(core.Temperature, "must be at least 0")
	case t > 1:
		w.keepAs(core.HighTemperature, core.Temperature)
		return []byte("1")
	}
	return raw
}

// writeStops writes the stop texts that the format accepts. The gateway itself enforces
// texts of only white space.
func (w *requestWriter) writeStops() {
	sent := w.scratch[:0]
	for i, raw := range w.x.Options.Stops() {
		if text := w.x.Answer.Stops[i]; strings.TrimSpace(text) == "" {
			w.x.Enforce(text)
		} else {
			sent = append(append(sent, ','), raw...)
		}
	}
	if w.scratch = sent; len(sent) > 0 {
		sent[0] = '['
		w.out.Raw("stop_sequences", append(sent, ']'))
	}
}

// maxUser is the length of the longest id of an end user that providers accept, in bytes.
const maxUser = 256

// writeUser writes the id of the end user. It writes the digest of an id that might be a
// mail address or a phone number, which providers refuse.
func (w *requestWriter) writeUser() {
	if !w.x.Options.Has(core.EndUser) {
		return
	}
	id := w.x.EndUser(maxUser)
	switch {
	case id == "":
		w.x.Lose(w.x.Options[core.EndUser].Row, nil)
		return
	case !translate.PlainName(id):
		w.keepAs(core.TellingEndUser, core.EndUser)
		id = core.DigestOf(id)
	}
	w.out.Name("metadata")
	w.out = append(append(append(w.out, `{"user_id":"`...), id...), `"}`...)
}

func (w *requestWriter) writeTier() {
	switch w.x.Options.OneOf(core.TierAuto, core.TierStandard) {
	case core.TierAuto:
		w.out.Raw("service_tier", []byte(`"auto"`))
	case core.TierStandard:
		w.out.Raw("service_tier", []byte(`"standard_only"`))
	}
}
