package core

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// MaxTokens returns the bound of the answer in tokens. It lowers the client's bound to
// the length of the longest answer of the model, and reports that as a loss. ok is
// false if the client sets no bound.
func (x *Translation) MaxTokens() (n int64, ok bool) {
	option := &x.Options[MaxTokens]
	asked, ok := jsonscan.Integer(option.Raw)
	if !ok {
		return 0, false
	}
	n, less := x.Traits.BoundTokens(asked)
	if less {
		x.KeepAs(LongMaxTokens, option.Row, nil)
	}
	return n, true
}

// LastBreakpoint reports whether the client asks for a breakpoint of the cache behind the whole
// request, and returns its raw lifetime, nil for the default.
func LastBreakpoint(x *Translation) (wanted bool, ttl []byte) {
	breakpoint := x.Options.Raw(CacheRequest)
	if breakpoint == nil {
		return false, nil
	}
	switch raw := jsonscan.MemberOf(breakpoint, "ttl"); jsonscan.TextOf(raw) {
	case "5m", "1h":
		ttl = raw
	}
	return true, ttl
}

// SamplesBeside reports whether the model takes sampling fields beside the effort that it is asked
// for, Nothing for none.
func SamplesBeside(x *Translation, effort Concept) bool {
	if effort == Nothing {
		return x.Traits.Sampling.Beside(0)
	}
	return x.Traits.Sampling.Beside(EffortOf(effort))
}

// SampleBesideReasoning decides what becomes of the sampling fields of a request to a model that
// reasons.
func SampleBesideReasoning(x *Translation) {
	for _, c := range [...]struct{ option, companion Concept }{
		{Temperature, TemperatureBesideReasoning}, {TopP, TopPBesideReasoning}, {TopK, TopKBesideReasoning},
		{Logprobs, LogprobsBesideReasoning},
	} {
		if option := &x.Options[c.option]; option.Raw != nil && !x.KeepAs(c.companion, option.Row, nil) {
			*option = Option{}
		}
	}
}

// Enforce keeps a stop text for the gateway, since the provider does not get it. It
// refuses the request if the gateway cannot enforce the text beside the others.
func (x *Translation) Enforce(text string) {
	if !x.Answer.Cuts.Enforce(text) {
		x.Fail(x.Info.RefuseStops(x.To.Format, x.Options[Stops].Row.Path))
	}
}

// AllStops is a number of stop texts that no request has.
const AllStops = math.MaxInt32

// AppendStops appends a member with the first stop texts of the client, at most most of them or
// as many as a trait allows, and without those of white space alone unless the format has them
// (blank). The gateway itself enforces the others. It reports whether there is one.
func AppendStops(members *Members, x *Translation, name string, most int, blank bool) (some bool) {
	most = x.Traits.BoundStops(most)
	n := 0
	for i, raw := range x.Options.Stops() {
		switch text := x.Answer.Cuts.Stops[i]; {
		case text == "" && !blank:
			continue
		case n >= most, !blank && strings.TrimSpace(text) == "":
			x.Enforce(text)
			continue
		case n == 0:
			members.Name(name)
			*members = append(*members, '[')
		default:
			*members = append(*members, ',')
		}
		*members = append(*members, raw...)
		n++
	}
	if n > 0 {
		*members = append(*members, ']')
	}
	return n > 0
}

// EndUser returns the id of the end user. If the id is longer than longest, EndUser
// returns its digest and reports that as a loss.
func (x *Translation) EndUser(longest int) string {
	id := x.Text(EndUser)
	if len(id) <= longest {
		return id
	}
	x.KeepAs(LongEndUser, x.Options[EndUser].Row, nil)
	return DigestOf(id)
}

// Logprobs returns the number of alternatives asked for at each token, and keeps it
// for the translation of the answer. ok is false if the client does not ask for
// probabilities.
func (x *Translation) Logprobs() (alternatives int64, ok bool) {
	if wanted := x.Options.Raw(Logprobs); wanted == nil || string(wanted) == "false" {
		return 0, false
	}
	if raw := x.Options.Raw(TopLogprobs); raw != nil {
		if alternatives, ok = jsonscan.Integer(raw); !ok || alternatives < 0 || alternatives > math.MaxInt32 {
			x.InvalidOption(TopLogprobs, "must be an integer of at least 0")
		}
	}
	x.Answer.Logprobs.Asked, x.Answer.Logprobs.Top = true, int(alternatives)
	return alternatives, true
}

// DigestOf returns the hexadecimal SHA-256 of the id of an end user, for providers that
// do not accept the id itself.
func DigestOf(id string) string {
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:])
}

// Text returns the decoded text of an option. It refuses an option that is not a string.
func (x *Translation) Text(c Concept) string {
	raw := x.Options.Raw(c)
	if !jsonscan.IsString(raw) {
		x.InvalidOption(c, "must be a string")
	}
	return jsonscan.TextOf(raw)
}

// InvalidOption refuses an option that is invalid in every format.
func (x *Translation) InvalidOption(c Concept, what string) {
	x.Invalid(x.Options[c].Row.path(), what)
}

// The budgets, in tokens, below which reasoning counts as low, medium and high.
const (
	lowBudget    = 2048
	mediumBudget = 8192
	highBudget   = 24576
)

// Effort returns the reasoning effort that the client asks for, EffortNone to
// EffortOther, and the row of the field that states it. It returns Nothing if no
// field does.
func (x *Translation) Effort() (effort Concept, row *Row) {
	o := &x.Options
	effort = o.OneOf(EffortNone, EffortOther)
	kind := o.OneOf(ReasoningOn, ReasoningOff)
	if kind == ReasoningOff {
		x.Lose(o[effort].Row, nil)
		return EffortNone, o[kind].Row
	}
	if effort != Nothing || kind != ReasoningOn {
		return effort, o[effort].Row
	}
	budget, ok := jsonscan.Integer(o.Raw(ReasoningBudget))
	switch {
	case !ok && o.Has(ReasoningBudget):
		x.InvalidOption(ReasoningBudget, "must be an integer")
	case !ok, budget < lowBudget:
		effort = EffortLow
	case budget < mediumBudget:
		effort = EffortMedium
	case budget < highBudget, !x.To.Keeps(EffortXHigh, x.Traits):
		effort = EffortHigh
	default:
		effort = EffortXHigh
	}
	return effort, o[kind].Row
}

// maxSamples is the number of answers that the formats allow in one call.
const maxSamples = 128

// FanOut decides how many calls give the Samples of each prompt: one call if the
// provider can give several answers (native) and there is one prompt, otherwise one
// call for each. It returns the number of answers to ask for in a call. It refuses
// requests that would become more calls than the provider's traits allow; the
// refusal names the prompts if they alone are too many, otherwise the samples.
func (x *Translation) FanOut(native bool) (ask int64) {
	samples := x.Options[Samples]
	n, ok := jsonscan.Integer(samples.Raw)
	if !ok {
		n = 1
	}
	if x.Prompts == 1 && native {
		if n > maxSamples {
			x.InvalidOption(Samples, "must be at most "+strconv.Itoa(maxSamples))
		}
		if n > 1 {
			x.Answer.Choices = int(n)
		}
		return n
	}
	most, prompts := x.Traits.FanOut(), int64(x.Prompts)
	if prompts <= most && n <= most/prompts {
		x.Samples = int(n)
		return 1
	}
	row, shown := x.From.Rows.concepts[Prompts], strconv.Itoa(x.Prompts)+" prompts"
	switch {
	case prompts > most:
	case prompts > 1:
		row, shown = samples.Row, strconv.FormatInt(n, 10)+" for "+shown
	default:
		row, shown = samples.Row, strconv.FormatInt(n, 10)
	}
	fault := x.Info.RefuseCalls(x.To.Format, row.Path, shown, most)
	fault.Log.Trait = OneCall.name()
	x.Fail(fault)
	return 1
}
