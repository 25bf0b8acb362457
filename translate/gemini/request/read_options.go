package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readConfig reads the options of the answer.
func (r *reader) readConfig(c *jsonscan.Cursor) {
	x := r.x
	for c.OpenObject(); c.Member(); {
		switch name := configMembers.Name(c.Name()); name {
		case "thinkingConfig":
			r.readThinking(c.Skip())
		case "responseModalities":
			parts.ReadModalities(x, c.Skip(), imagesRow, imagesAloneRow, otherModalityRow)
		case "responseSchema", "responseJsonSchema":
			if raw := c.Skip(); !jsonscan.Blank(raw) {
				schema, ordered := jsonSchema(raw, name == "responseSchema")
				if !ordered && x.To.Keeps(core.Schema, x.Traits) {
					x.Lose(orderingRow, nil)
				}
				x.SetOption(rows.Named(ofConfig+name), schema)
			}
		default:
			core.ReadMember(x, config, c)
		}
	}
}

// readThinking reads how much the model thinks. A budget is the effort of its size.
func (r *reader) readThinking(raw []byte) {
	x, o := r.x, &r.data
	o.ReadRaw(x, raw, thinkingMembers, thinking)
	switch shown := o.Raw("includeThoughts"); {
	case shown == nil:
	case jsonscan.IsTrue(shown):
		x.SetOption(rows.Named(ofThinking+"includeThoughts"), shown)
	default:
		x.SetOption(rows.Named(ofThinking+"includeThoughts=false"), shown)
	}
	if level := string(bytes.ToLower(o.Word("thinkingLevel"))); level != "" && level != "thinking_level_unspecified" {
		x.SetWord(ofThinking+"thinkingLevel", jsonscan.AppendString(nil, level))
	}
	if budget, ok := jsonscan.Integer(o.Raw("thinkingBudget")); ok {
		x.SetOption(rows.Named(ofThinking+"thinkingBudget="+r.sizeOf(budget)), o.Raw("thinkingBudget"))
	}
}

// sizeOf returns the budget in the name of the row of budgets of the same size (wire format B.9).
func (r *reader) sizeOf(budget int64) string {
	switch {
	case budget < 0:
		return "-1"
	case budget == 0:
		return "0"
	case budget < 2048:
		return "1024"
	case budget < 8192:
		return "4096"
	case budget < 24576, !r.x.Can(core.EffortXHigh):
		return "16384"
	default:
		return "32768"
	}
}

// readSafety reports the loss of the filters of the service.
func readSafety(x *core.Translation, raw []byte) {
	for _, setting := range jsonschema.Elements(raw) {
		threshold := jsonscan.TextOf(jsonscan.MemberOf(setting, "threshold"))
		x.Lose(rows.Value("safetySettings[*].threshold", threshold), nil)
	}
}

// foldOptions joins options that belong together, and drops those that depend on others.
func (r *reader) foldOptions() {
	x, o := r.x, &r.x.Options
	for _, usual := range [...]struct {
		concept core.Concept
		value   float64
		row     *core.Row
	}{{core.Temperature, 1, usualTemperature}, {core.TopP, 0.95, usualTopP}, {core.TopK, 64, usualTopK}} {
		option := &o[usual.concept]
		if n, err := strconv.ParseFloat(string(option.Raw), 64); err == nil && n == usual.value {
			option.Row = usual.row
		}
	}
	o.FoldTopLogprobs(x, loneTopLogprobsRow)
	schema := o[core.Schema]
	switch {
	case schema.Raw == nil:
	case !o.Has(core.FormatObject):
		x.Invalid(ofConfig+"responseMimeType", "must be '"+asJSON+"' beside a schema")
	default:
		o.Clear(core.FormatObject, core.FormatObject)
		o[core.FormatSchema] = core.Option{Raw: schema.Raw, Row: rows.Named(ofConfig + "responseMimeType=" + asJSON + "+" + schema.Row.Name)}
		if x.Can(core.SchemaStrict) {
			o[core.SchemaStrict] = core.Option{Raw: strconv.AppendBool(nil, isClosed(schema.Raw))} // no field of the client
		}
	}
}
