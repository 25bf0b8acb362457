package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Source reads messages requests.
var Source = core.Source{Rows: rows, New: func() core.Reader { return new(reader) }}

// reader reads a messages request.
type reader struct {
	x    *core.Translation
	w    core.Writer
	body []byte

	turn   turn
	begun  bool        // a turn of a user or an assistant has begun
	effort core.Option // of the last system turn that no user turn follows
	server serverCalls
	levels [maxNesting]level

	// The arguments of the writer's methods, kept here to save allocations.
	args struct {
		media   core.Media
		thought core.Thought
		call    core.Call
		result  core.Result
		tool    core.Tool
	}
}

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.body = x, w, body
	var system, olderFormat []byte
	lostTools := false // there are tools, and the writer gets none of them
	c := x.Info.Texts.Again(body)
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "messages":
			for x.EnterList(&c, "messages"); x.NextElement(&c); {
				r.message(&c)
			}
		case "tools":
			if x.Can(core.FunctionTool) {
				r.tools(&c)
			} else {
				lostTools = !jsonscan.Blank(c.Skip())
			}
		case "system":
			system = c.Skip()
		case "output_format":
			olderFormat = c.Skip()
		default:
			x.Member(&c)
		}
	}
	if !x.Failed() && len(system) > len(`""`) && system[0] != 'n' {
		x.Keep(core.SystemText, nil)
		w.Turn(core.Instructions)
		r.turn = turn{role: core.Instructions, open: true}
		r.readRaw(system, 0, "system", systemBlocks)
		w.EndTurn()
	}
	if r.server.open > 0 {
		now := x.At
		x.At = r.server.last
		x.Lose(openServerCallRow, nil)
		x.At = now
	}
	if r.effort.Raw != nil {
		x.Options.Clear(core.EffortNone, core.EffortOther)
		x.SetOption(r.effort.Row, r.effort.Raw)
	}
	checkOptions(x, olderFormat)
	switch { // the consequence of the loss depends on the choice among the tools
	case lostTools && x.Options.Has(core.ToolChoiceNone):
		x.Keep(core.UnusedTools, nil)
	case lostTools:
		x.Keep(core.FunctionTool, nil)
	}
	return c.Finish()
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

// checkOptions refuses or removes options that do not go together. olderFormat is the value of
// output_format, which older clients send in place of output_config.format.
func checkOptions(x *core.Translation, olderFormat []byte) {
	o, format := &x.Options, "output_config.format"
	if o.Has(core.ReasoningBudget) && !o.Has(core.ReasoningOn) {
		x.Lose(idleBudgetRow, nil)
		o.Clear(core.ReasoningBudget, core.ReasoningBudget)
	}
	if len(olderFormat) > 0 && olderFormat[0] != 'n' {
		if o.Has(core.FormatSchema) || o.Has(core.Schema) {
			x.Invalid("output_format", "must not be sent together with output_config.format")
			return
		}
		format = "output_format"
		c := jsonscan.Again(olderFormat)
		x.ReadObject(&c, format)
	}
	switch {
	case o.Has(core.Schema) && !o.Has(core.FormatSchema):
		x.Lose(rows.Value(format+".type", ""), nil)
	case o.Has(core.FormatSchema) && !o.Has(core.Schema):
		x.Invalid(format+".schema", "required")
	}
	if o.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed) == core.Nothing && (o.Has(core.ToolChoiceName) || o.Has(core.OneCallAtATime)) {
		x.Lose(unknownChoiceRow, nil)
	}
	if raw := o.Raw(core.OneCallAtATime); raw != nil && string(raw) != "true" && string(raw) != "false" {
		x.InvalidOption(core.OneCallAtATime, "must be a boolean")
	}
}
