package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// foldOptions joins options with two names, and drops options that depend on others.
func foldOptions(x *core.Translation) {
	o := &x.Options
	switch newer, older := o[core.MaxTokens], o[core.OlderMaxTokens]; {
	case older.Raw == nil:
	case newer.Raw == nil:
		o[core.MaxTokens] = older
	default:
		a, _ := jsonscan.Integer(newer.Raw)
		if b, _ := jsonscan.Integer(older.Raw); a != b {
			x.InvalidOption(core.OlderMaxTokens, "must be the same as max_completion_tokens where both are sent")
		}
	}
	o.Clear(core.OlderMaxTokens, core.OlderMaxTokens)
	o.FoldUser(x, secondUserRow)
	o.FoldParallelCalls()
	parts.FoldModeration(x)
	o.FoldTopLogprobs(x, loneTopLogprobsRow)
}

// readFormat reads the format of the answer.
func readFormat(x *core.Translation, raw []byte) {
	const path = "response_format"
	if isAbsent(raw) || !isObject(x, raw, path) {
		return
	}
	var o core.Object
	o.ReadRaw(x, raw, formatMembers, path)
	o.LoseOthers(x, o.Shape())
	x.SetWord(path+".type", o.Raw("type"))
	schema := o.Raw("json_schema")
	if !x.Options.Has(core.FormatSchema) || !isObject(x, schema, path+".json_schema") {
		return
	}
	c := jsonscan.Again(schema)
	x.ReadObject(&c, path+".json_schema")
	if !x.Options.Has(core.Schema) {
		x.Invalid(path+".json_schema.schema", "required")
	}
}
