package conditions

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/marks"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// Prefix is the beginning of the placeholders of requests, in front of a name of valueTable or of a tag.
const Prefix = "http.ai_gateway.request."

// tagPrefix is the beginning of the names of values that are tags.
const tagPrefix = "tag."

// values are the values of one request. A value always has its type, zero if the request states
// nothing, so that comparisons do not fail.
type values struct {
	ex       *exchange.Exchange
	contents *contents // nil until a value needs them
}

// value is a value that conditions read by name.
type value struct {
	name string
	read func(*values) any
}

var valueTable = []value{
	{"input_tokens", func(v *values) any { return v.inputTokens() }},
	{"max_tokens", func(v *values) any { return v.ex.Request.View.MaxTokens }},
	{"images", func(v *values) any { return v.parts().images }},
	{"documents", func(v *values) any { return v.parts().documents }},
	{"recordings", func(v *values) any { return v.parts().recordings }},
	{"tools", func(v *values) any { return v.parts().tools }},
	{"thinks", func(v *values) any { return v.parts().thinks() }},
	{"effort", func(v *values) any { return v.parts().effortWord() }},
	{"stream", func(v *values) any { return v.ex.Request.Streaming() }},
	{"format", func(v *values) any { return string(v.ex.Request.Format.Name) }},
	{"operation", func(v *values) any { return v.ex.Request.Operation.String() }},
	{"client", func(v *values) any { return v.client() }},
	{"session", func(v *values) any { return marks.Session(v.ex) }},
	{"agent", func(v *values) any { return marks.Agent(v.ex) }},
	{"subagent", func(v *values) any { return marks.IsOfSubagent(v.ex) }},
	{"key", func(v *values) any { return v.ex.Key.ID }},
	{"owner", func(v *values) any { return v.ex.Key.Owner }},
	{"limit", func(v *values) any { return v.ex.Key.Limit }},
	{"customer", func(v *values) any { return v.ex.Key.Customer }},
}

// valueOf returns the function of the value with a name, nil if there is none.
func valueOf(name string) func(*values) any {
	for _, v := range valueTable {
		if v.name == name {
			return v.read
		}
	}
	return nil
}

// names returns the names of all values, without tags.
func names() []string {
	all := make([]string, len(valueTable))
	for i, v := range valueTable {
		all[i] = v.name
	}
	return all
}

// get returns the value of a placeholder.
func (v *values) get(placeholder string) (any, bool) {
	name, ok := strings.CutPrefix(placeholder, Prefix)
	if !ok {
		return nil, false
	}
	if tag, ok := strings.CutPrefix(name, tagPrefix); ok {
		return v.ex.Key.Tag(tag), true
	}
	if read := valueOf(name); read != nil {
		return read(v), true
	}
	return nil, false
}

// inputTokens estimates the tokens of the request: the number that its answer will state may differ.
func (v *values) inputTokens() int64 {
	if passthrough.IsForm(v.ex.Request.Body) {
		return passthrough.FileTokens(len(v.ex.Request.Body))
	}
	return meter.PromptTokens(len(v.ex.Request.Body), v.ex.Request.View.Costs.Files)
}

// client returns the name of the client: the first product of its User-Agent, without the version.
func (v *values) client() string {
	name, _, _ := strings.Cut(v.ex.Request.Client.Get("User-Agent"), "/")
	name, _, _ = strings.Cut(name, " ")
	return name
}

// parts returns the contents of the request, which has none if it is beside text.
func (v *values) parts() *contents {
	if v.contents == nil {
		v.contents = new(contents)
		if source := v.ex.Request.Format.Requests.Source; source != nil && !v.ex.Request.Operation.Beside() {
			_, _ = core.Receive(v.ex.Request.Body, &core.RequestInfo{Prompt: core.AllPrompts}, source, v.contents, false)
		}
	}
	return v.contents
}

// contents counts the parts of a request on which conditions depend.
type contents struct {
	core.Discard
	images, documents, recordings, tools int64
	reasoning, effort                    core.Concept  // that are stated
	word                                 string        // of an effort that is no concept
	options                              *core.Options // until Finish
}

func (c *contents) Image(*core.Media)        { c.images++ }
func (c *contents) Document(*core.Media)     { c.documents++ }
func (c *contents) OpenDocument(*core.Media) { c.documents++ }
func (c *contents) Recording(*core.Media)    { c.recordings++ }
func (c *contents) Tool(*core.Tool)          { c.tools++ }

// Saw implements core.Witness: a tool that the provider runs is no part of the request.
func (c *contents) Saw(concept core.Concept, _ *core.Row, _ []byte) {
	if concept == core.VendorTool {
		c.tools++
	}
}

// Begin implements core.Writer.
func (c *contents) Begin(x *core.Translation, _ int) { c.options = &x.Options }

// Finish implements core.Writer. Only then the options are complete.
func (c *contents) Finish(dst []byte) []byte {
	c.effort = c.options.OneOf(core.EffortNone, core.EffortOther)
	c.word = strings.Trim(string(c.options.Raw(c.effort)), `"`)
	c.reasoning = c.options.OneOf(core.ReasoningOn, core.ReasoningBudget)
	c.options = nil
	return dst
}

// thinks reports whether the request asks for reasoning. A model may also reason unasked.
func (c *contents) thinks() bool {
	if c.effort != core.Nothing {
		return c.effort != core.EffortNone
	}
	return c.reasoning != core.Nothing && c.reasoning != core.ReasoningOff
}

// effortWord returns the word of the effort that the request states, "" for none.
func (c *contents) effortWord() string {
	switch c.effort {
	case core.Nothing:
		return ""
	case core.EffortOther:
		return c.word
	}
	return core.EffortOf(c.effort).String()
}
