package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Source reads messages requests.
var Source = core.Source{Rows: rows, New: func() core.Reader { return new(reader) }}

// reader reads a messages request.
type reader struct {
	x      *core.Translation
	w      core.Writer
	body   []byte
	cursor jsonscan.Cursor // over the body

	role   core.Role
	person bool // the turn contains more than the results of tools
	late   bool // the turn is one of the system, and the writer has not got its beginning
	begun  bool // a turn of a user or an assistant has begun

	effort core.Option // of the last system turn that no user turn follows

	lostTools bool // there are tools, and the writer gets none of them

	serverCalls  int        // calls of server tools without a result in the last assistant turn
	lastServerAt core.Place // of the last of these calls

	levels [maxNesting]blockLevel
	tool   core.Object

	// The arguments of the writer's methods, kept here to save allocations.
	parts struct {
		media   core.Media
		thought core.Thought
		call    core.Call
		result  core.Result
		tool    core.Tool
	}
}

// blockLevel reads the blocks inside the blocks of the level before.
type blockLevel struct {
	cursor        jsonscan.Cursor
	block, source core.Object
}

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.body, r.cursor = x, w, body, jsonscan.Again(body)
	var late waiting
	c := &r.cursor
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "messages":
			r.messages()
		case "tools":
			r.tools()
		case "system":
			late.system = c.Skip()
		case "output_format":
			late.format = c.Skip()
		default:
			x.Member(c)
		}
	}
	r.finish(&late)
	return c.Finish()
}

// waiting are the members that are read behind all others.
type waiting struct {
	system []byte
	format []byte // of the answer, in the older member
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

func (r *reader) finish(late *waiting) {
	r.system(late.system)
	if r.serverCalls > 0 {
		now := r.x.At
		r.x.At = r.lastServerAt
		r.x.Lose(openServerCallRow, nil)
		r.x.At = now
	}
	if r.effort.Raw != nil {
		r.x.Options.Clear(core.EffortNone, core.EffortOther)
		r.x.SetOption(r.effort.Row, r.effort.Raw)
	}
	r.budget()
	r.format(late.format)
	r.choice()
	r.loseTools()
}

// budget reports the loss of a budget beside a kind of reasoning without a budget.
func (r *reader) budget() {
	if o := &r.x.Options; o.Has(core.ReasoningBudget) && !o.Has(core.ReasoningOn) {
		r.x.Lose(idleBudgetRow, nil)
		o.Clear(core.ReasoningBudget, core.ReasoningBudget)
	}
}

// format reads the format of the answer in the older member, and checks the format.
func (r *reader) format(older []byte) {
	o, path := &r.x.Options, "output_config.format"
	if len(older) > 0 && older[0] != 'n' {
		if o.Has(core.FormatSchema) || o.Has(core.Schema) {
			r.x.Invalid("output_format", "must not be sent together with output_config.format")
			return
		}
		path = "output_format"
		c := jsonscan.Again(older)
		r.x.ReadObject(&c, "output_format")
	}
	switch {
	case o.Has(core.Schema) && !o.Has(core.FormatSchema):
		r.x.Lose(rows.Value(path+".type", ""), nil)
	case o.Has(core.FormatSchema) && !o.Has(core.Schema):
		r.x.Invalid(path+".schema", "required")
	}
}

// choice refuses a choice among the tools without a type.
func (r *reader) choice() {
	o := &r.x.Options
	if o.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed) == core.Nothing && (o.Has(core.ToolChoiceName) || o.Has(core.OneCallAtATime)) {
		r.x.Lose(unknownChoiceRow, nil)
	}
	if raw := o.Raw(core.OneCallAtATime); raw != nil && string(raw) != "true" && string(raw) != "false" {
		r.x.InvalidOption(core.OneCallAtATime, "must be a boolean")
	}
}

// system reads the system prompt.
func (r *reader) system(raw []byte) {
	if r.x.Failed() || len(raw) <= len(`""`) || raw[0] == 'n' {
		return
	}
	r.w.Turn(core.Instructions)
	r.role, r.late = core.Instructions, false
	if jsonscan.IsString(raw) {
		r.w.Text(jsonscan.Inner(raw))
	} else {
		r.within(0, raw, "system", systemBlocks)
	}
	r.w.EndTurn()
}
