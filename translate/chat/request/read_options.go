package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// foldOptions joins options with two names, and drops options that depend on others.
func (r *reader) foldOptions() {
	o := &r.x.Options
	r.foldMaxTokens(o)
	o.FoldUser(r.x, secondUserRow)
	o.FoldParallelCalls()
	if o.Has(core.TopLogprobs) && !jsonscan.IsTrue(o.Raw(core.Logprobs)) {
		r.x.KeepAs(core.TopLogprobsAlone, loneTopLogprobsRow, o.Raw(core.TopLogprobs))
		o.Clear(core.TopLogprobs, core.TopLogprobs)
	}
}

func (r *reader) foldMaxTokens(o *core.Options) {
	newer, older := o[core.MaxTokens], o[core.OlderMaxTokens]
	switch {
	case older.Raw == nil:
	case newer.Raw == nil:
		o[core.MaxTokens] = older
	default:
		a, _ := jsonscan.Integer(newer.Raw)
		if b, _ := jsonscan.Integer(older.Raw); a != b {
			r.x.InvalidOption(core.OlderMaxTokens, "must be the same as max_completion_tokens where both are sent")
		}
	}
	o.Clear(core.OlderMaxTokens, core.OlderMaxTokens)
}

// modalities refuses requests for answers other than texts.
func (r *reader) modalities(raw []byte) {
	if isAbsent(raw) {
		return
	}
	c := jsonscan.Again(raw)
	if !c.EnterArray() {
		r.x.Lose(otherModalityRow, raw)
		return
	}
	for c.Element() {
		if kind := c.Skip(); string(kind) != `"text"` {
			r.x.Lose(otherModalityRow, kind)
		}
	}
}

// format reads the format of the answer.
func (r *reader) format(raw []byte) {
	const path = "response_format"
	if isAbsent(raw) || !r.isObject(raw, path) {
		return
	}
	o := &r.inner
	o.ReadRaw(r.x, raw, answerFormats, path)
	o.LoseOthers(r.x, o.Shape())
	r.x.SetWord(path+".type", o.Raw("type"))
	if r.x.Options.Has(core.FormatSchema) {
		r.schema(o.Raw("json_schema"), path+".json_schema")
	}
}

// schema reads the schema of the answer.
func (r *reader) schema(raw []byte, path string) {
	if !r.isObject(raw, path) {
		return
	}
	c := jsonscan.Again(raw)
	r.x.ReadObject(&c, path)
	if !r.x.Options.Has(core.Schema) {
		r.x.Invalid(path+".schema", "required")
	}
}
