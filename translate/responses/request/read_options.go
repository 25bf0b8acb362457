package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	responsesanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
)

// include reads what the answer is to have beside what it always has.
func (r *requestReader) include(raw []byte) {
	for _, word := range elementsOf(raw) {
		switch string(jsonscan.Inner(word)) {
		case includeReasoning:
			r.x.Answer.Seals = r.x.Info.Seals
		case includeLogprobs:
			r.x.SetOption(logprobsRow, []byte("true"))
		default:
			r.x.Lose(otherIncludeRow, nil)
		}
	}
}

// update is a change of settings in the middle of the input: raw objects at a place.
type update struct {
	at              core.Place
	reasoning, text []byte
}

// readUpdate puts the settings of the last change in place of those of the request.
func (r *requestReader) readUpdate() {
	o := &r.x.Options
	for name := range jsonscan.Members(r.update.reasoning) {
		switch string(name) {
		case "effort":
			o.Clear(core.EffortNone, core.EffortOther)
		case "summary", "generate_summary":
			o.Clear(core.ReasoningShown, core.ReasoningHidden)
		}
	}
	for name := range jsonscan.Members(r.update.text) {
		switch string(name) {
		case "format":
			o.Clear(core.FormatText, core.SchemaStrict)
		case "verbosity":
			o.Clear(core.Verbosity, core.Verbosity)
		}
	}
	now := r.x.At
	r.x.At = r.update.at
	r.readSettings(r.update.reasoning, "reasoning")
	r.readSettings(r.update.text, "text")
	r.x.At = now
}

func (r *requestReader) readSettings(raw []byte, path string) {
	if raw != nil {
		c := jsonscan.Again(raw)
		r.x.ReadObject(&c, path)
	}
}

// foldOptions makes one option of those that the client may give in two ways.
func (r *requestReader) foldOptions() {
	o := &r.x.Options
	o.FoldUser(r.x, secondUserRow)
	r.foldFormat(o)
	o.FoldParallelCalls()
	if o.Has(core.TopLogprobs) && !o.Has(core.Logprobs) {
		r.x.Lose(loneTopLogprobsRow, o.Raw(core.TopLogprobs))
		o.Clear(core.TopLogprobs, core.TopLogprobs)
	}
}

// foldFormat requires the schema of a format that follows one; other formats have
// none.
func (r *requestReader) foldFormat(o *core.Options) {
	switch {
	case o.Has(core.FormatSchema) && !o.Has(core.Schema):
		r.x.Invalid("text.format.schema", "required")
	case !o.Has(core.FormatSchema):
		for c := core.Schema; c <= core.SchemaStrict; c++ {
			if o.Has(c) {
				r.x.Lose(strayFormatRow, nil)
			}
		}
		o.Clear(core.Schema, core.SchemaStrict)
	}
}

// remember keeps what the answer repeats of the request.
func (r *requestReader) remember() {
	x := r.x
	x.Answer.HideReasoning = !x.Options.Has(core.ReasoningShown)
	x.Answer.Settings = r.settings.Append(nil, jsonscan.IsTrue(x.Options.Raw(core.Stream)))
}

// toolsSetting is the setting that repeats the tools of the request.
var toolsSetting = responsesanswer.SettingOf([]byte("tools"))

// repeatTools makes the answer repeat the tools of the request without those that are
// left out: the model could not call them.
func (r *requestReader) repeatTools(left []translate.Span) {
	if len(left) == 0 {
		return
	}
	edits := make([]edit.Edit, len(left))
	for i, span := range left {
		edits[i].Span = span
	}
	r.settings.Set(toolsSetting, edit.Apply(nil, r.tools, edits))
}
