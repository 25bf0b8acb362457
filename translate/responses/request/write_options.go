package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// writeReasoning asks for as much reasoning as the client wants, and for summaries of
// it. It reports whether the model reasons, and takes sampling fields only if it is known to.
func writeReasoning(members *core.Members, x *core.Translation) (reasons bool) {
	effort, row := x.Effort()
	asked := effort != core.Nothing && x.KeepAs(effort, row, nil)
	if asked {
		reasons = effort != core.EffortNone
	} else if x.Options.Has(core.ReasoningAdaptive) || effort == core.Nothing && x.Options.Has(core.ReasoningShown) { // of providers that reason
		reasons = x.Traits.EffortsOr(trait.EffortAll)&^trait.EffortNone != 0
	}
	if !asked {
		effort = core.Nothing
	}
	summary := reasons && !x.Traits.NoReasoningSummary && !x.Options.Has(core.ReasoningHidden)
	reasons = reasons || !core.SamplesBeside(x, effort)
	if !asked && !summary {
		return reasons
	}
	members.Name("reasoning")
	first := len(*members)
	if asked {
		members.Word("effort", x.Traits.EffortsOr(trait.EffortAll).Nearest(core.EffortOf(effort)).String())
	}
	if summary {
		members.Word("summary", "auto")
	}
	(*members)[first] = '{' // where the comma of the first member is
	*members = append(*members, '}')
	return reasons
}

// leastTokens is the smallest bound of an answer that providers take. Clients that only
// want to know whether a model is there ask for one token.
const leastTokens = 16

// writeBounds writes what bounds and shapes the answer. Models that reason take no
// sampling fields, unless their provider is known to.
func writeBounds(members *core.Members, x *core.Translation, reasons bool) {
	o := &x.Options
	if n, ok := x.MaxTokens(); ok {
		if n < leastTokens {
			x.KeepAs(core.ShortMaxTokens, o[core.MaxTokens].Row, nil)
			n = leastTokens
		}
		members.Number("max_output_tokens", n)
	}
	if reasons {
		core.SampleBesideReasoning(x)
	}
	members.Option("temperature", &o[core.Temperature])
	members.Option("top_p", &o[core.TopP])
}

// writeText writes the format of the answer, and how many words the client wants.
func writeText(members *core.Members, o *core.Options) {
	if !o.Has(core.FormatObject) && !o.Has(core.Schema) && !o.Has(core.Verbosity) {
		return
	}
	members.Name("text")
	first := len(*members)
	if o.Has(core.Schema) {
		members.Name("format")
		*members = append(parts.AppendSchema(append(*members, `{"type":"json_schema",`...), o), '}')
	} else if o.Has(core.FormatObject) {
		members.Raw("format", []byte(`{"type":"json_object"}`))
	}
	members.Option("verbosity", &o[core.Verbosity])
	(*members)[first] = '{'
	*members = append(*members, '}')
}

// writeInclude asks for what answers have only then: what takes reasoning back to the
// provider, where the client can keep that, and probabilities.
func writeInclude(members *core.Members, x *core.Translation) {
	seals := x.From.Rows.Has(core.EncryptedReasoning) && x.Info.Seals != nil && x.Can(core.EncryptedReasoning)
	limit, probabilities := x.Logprobs()
	if !seals && !probabilities {
		return
	}
	members.Name("include")
	first := len(*members)
	if seals {
		x.Answer.Seals = x.Info.Seals
		*members = append(*members, `,"reasoning.encrypted_content"`...)
	}
	if probabilities {
		*members = append(*members, `,"message.output_text.logprobs"`...)
	}
	(*members)[first] = '['
	*members = append(*members, ']')
	if limit > 0 {
		members.Number("top_logprobs", limit)
	}
}

// writeUser writes the id of the end user. The id of an agent's session becomes the
// digest of the id without its session, and the session becomes the key of the cache,
// which nobody but the client itself can name.
func writeUser(members *core.Members, x *core.Translation) {
	if !x.Options.Has(core.EndUser) {
		return
	}
	field := parts.UserField(x.Traits)
	user, session := divided(x.Text(core.EndUser))
	if session == "" {
		parts.AppendUser(members, x, field)
		return
	}
	members.Word(field, core.DigestOf(user))
	if !x.Options.Has(core.CacheKey) {
		members.Word("prompt_cache_key", core.DigestOf(x.Info.Tenant+"\n"+session))
	}
}

// divided returns the id of an end user without its session, and the session; "" for
// one that names none.
func divided(id string) (user, session string) {
	var rest bytes.Buffer
	for name, value := range jsonscan.Members([]byte(id)) {
		if string(name) == "session_id" {
			session = jsonscan.TextOf(value)
			continue
		}
		rest.Write(name)
		rest.WriteByte(':')
		rest.Write(value)
		rest.WriteByte('\n')
	}
	return rest.String(), session
}
