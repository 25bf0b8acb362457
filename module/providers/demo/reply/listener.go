package reply

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// listener is the writer of the requests of all formats: it keeps what an answer refers to.
type listener struct {
	core.Discard
	request *Request
	x       *core.Translation
	role    core.Role // of the turn
	replied bool      // the last turn, those of the system aside, is one of the assistant
	prompt  string    // the last text of the user
	fresh   bool      // the turn had no result of a tool so far
	inner   int       // open documents and results of searches, whose texts are no prompts
	result  *[]string // the texts of the open result of a tool
	signs   bool      // all reasoning must be signed
	foreign bool      // there is reasoning that this provider has not signed
}

func (l *listener) Begin(x *core.Translation, _ int) { l.x = x }

// Turn begins a turn. The last text of the user since the last turn of the assistant is answered, or
// else the results of tools, which a text in a later turn replaces.
func (l *listener) Turn(role core.Role) {
	r := l.request
	l.role, l.fresh = role, true
	if role != core.Instructions {
		r.Conversation.Messages++
	}
	switch {
	case role == core.Assistant:
		l.replied, r.Conversation.Later = true, true
	case role == core.User && l.replied:
		l.replied, l.prompt, r.Conversation.Results = false, "", nil
	}
}

func (l *listener) Text(escaped []byte) {
	text := decoded(escaped)
	switch {
	case l.role == core.Instructions || l.role == core.System:
		l.request.Size.addSystem(text)
		return
	case l.result != nil:
		*l.result = append(*l.result, text)
	case l.role == core.User && l.inner == 0:
		l.prompt = text
		if l.fresh {
			l.request.Conversation.Results = nil
		}
	}
	l.request.Size.addText(text)
}

func (l *listener) Refusal(text []byte)          { l.Text(text) }
func (l *listener) Image(*core.Media)            { l.request.Size.addMedia() }
func (l *listener) Recording(*core.Media)        { l.request.Size.addMedia() }
func (l *listener) Document(*core.Media)         { l.request.Size.addMedia() }
func (l *listener) CacheBreakpoint([]byte)       { l.request.Conversation.Marked = true }
func (l *listener) CloseDocument()               { l.inner-- }
func (l *listener) CloseSearchResult()           { l.inner-- }
func (l *listener) OpenResult(*core.Result)      { l.result, l.fresh = new([]string), false }
func (l *listener) OpenSearchResult(_, _ []byte) { l.inner++ }

func (l *listener) OpenDocument(*core.Media) {
	l.request.Size.addMedia()
	l.inner++
}

// CloseResult ends a result, about which the answer is, and no longer about the text before.
func (l *listener) CloseResult(bool) {
	l.request.Conversation.Results = append(l.request.Conversation.Results, strings.Join(*l.result, "\n"))
	l.result, l.prompt = nil, ""
}

func (l *listener) Reasoning(t *core.Thought) {
	text := decoded(t.Text)
	l.request.Size.addText(text)
	switch t.Origin {
	case core.Unsigned:
		l.foreign = l.foreign || l.signs
	case core.Signed:
		l.foreign = l.foreign || !signed(text, decoded(t.Signature))
	case core.SelfSigned, core.Encrypted:
		l.foreign = true
	case core.Sealed: // by any provider
	}
}

// decoded returns an escaped text.
func decoded(text []byte) string { return string(jsonscan.AppendUnescaped(nil, text)) }

func (l *listener) Call(c *core.Call) { l.request.Size.addText(string(c.Input) + string(c.Text)) }

func (l *listener) Tool(t *core.Tool) {
	tool := Tool{Name: jsonscan.TextOf(t.Name), Schema: t.Schema, Free: t.Free}
	tool.Label = tool.Name
	if client, ok := l.x.Answer.Tools.Client[tool.Name]; ok {
		tool.Label = client.Name
	}
	l.request.Offer.Tools = append(l.request.Offer.Tools, tool)
	l.request.Size.addTool(len(t.Name) + len(t.Description) + len(t.Schema) + len(t.Definition))
}

// Finish reads the options.
func (l *listener) Finish(dst []byte) []byte {
	r, o := l.request, &l.x.Options
	l.x.Logprobs() // keeps what the answer has of them
	r.Conversation.Prompts = append(r.Conversation.Prompts, l.prompt)
	r.Sampling.Stops = l.x.Answer.Cuts.Stops
	for _, c := range [...]core.Concept{core.OlderMaxTokens, core.MaxTokens} {
		if n, ok := jsonscan.Integer(o.Raw(c)); ok {
			r.Sampling.Limit = int(n)
		}
	}
	if n, ok := jsonscan.Integer(o.Raw(core.Samples)); ok {
		r.Sampling.N = int(min(max(n, 1), maxSamples+1))
	}
	asked := o.OneOf(core.EffortMinimal, core.EffortOther) != core.Nothing || o.OneOf(core.ReasoningOn, core.ReasoningAdaptive) != core.Nothing ||
		o.Has(core.ReasoningBudget) || o.Has(core.ReasoningShown)
	r.Reason = asked && !o.Has(core.EffortNone) && !o.Has(core.ReasoningOff)
	r.Hidden = o.Has(core.ReasoningHidden)
	r.Conversation.Marked = r.Conversation.Marked || o.Has(core.CacheRequest)
	switch {
	case o.Has(core.Schema):
		r.Schema = o.Raw(core.Schema)
	case o.Has(core.FormatObject):
		r.Schema = []byte(`{"type":"object"}`)
	}
	r.Offer.Choice = ToolChoice{
		Never: o.Has(core.ToolChoiceNone), Must: o.ForcesTool(), Name: jsonscan.TextOf(o.Raw(core.ToolChoiceName)),
		Single: jsonscan.IsTrue(o.Raw(core.OneCallAtATime)) || string(o.Raw(core.ParallelCalls)) == "false",
	}
	return dst
}
