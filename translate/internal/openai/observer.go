package openai

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Observer reads a stream of chunks that is relayed unchanged. It implements
// signal.Observer for both formats, which differ only in the content of a choice.
//
// Most chunks of a stream differ from the one before in the text of their content
// alone: they are relayed as they are, and need not be read.
type Observer struct {
	signal.Observed
	choices *members.Table
	content Content

	report   token.Report // of all chunks
	last     lastChunk
	progress progress
	turns    bool // the Deltas may be of any choice
}

// Content reports whether a choice has content that is not empty, and adds its texts.
type Content func(choice *members.Values, texts *Texts) (hasContent bool)

// lastChunk is what the choices of the chunk that was read last contain.
type lastChunk struct {
	choice members.Values // the one read last
	summary
}

// summary is what the choices of a chunk contain together.
type summary struct {
	texts    Texts
	content  bool
	finished bool // at least one choice has finished
	failure  *fault.Fault
}

// Texts contains the texts of a chunk: text, reasoning and arguments of tool calls.
type Texts struct {
	// Number is the position of a number beside the texts, such as the index of a tool call,
	// which means nothing to an observer; the zero Slot for none.
	Number jsonscan.Slot

	size  token.Text
	count int
	last  jsonscan.Slot // the position of the text that was read last
}

// Add adds the raw string at a position, and reports whether it is neither empty nor nil.
func (t *Texts) Add(raw []byte, slot jsonscan.Slot) bool {
	if len(raw) <= len(`""`) {
		return false
	}
	t.size.AddString(raw)
	t.count++
	t.last = slot
	return true
}

// NewObserver returns an observer for one stream with choices of a table.
func NewObserver(choices *members.Table, content Content) *Observer {
	return &Observer{choices: choices, content: content}
}

var _ signal.Observer = (*Observer)(nil)

// Observe reads the next event. Events after [DONE] or an error are ignored.
func (o *Observer) Observe(delta sse.Event) signal.Signal {
	switch {
	case o.Closed || len(delta.Data) == 0:
		return 0
	case string(delta.Name) == "error":
		return o.Fail(dialect.ReadEvent(delta.Data))
	case o.repeats(delta.Name, delta.Data): // nearly all of a stream
		return signal.Content
	case delta.IsDone():
		if f := unfinished(o.progress.stray, o.Begun); f != nil && !o.progress.finished(1) {
			return o.Fail(f)
		}
		o.Closed = true
		return signal.Terminal
	}
	return o.read(delta)
}

// Repeat implements signal.Observer. It leaves choices that take turns to Observe.
func (o *Observer) Repeat(l *sse.Lexer) int {
	if o.turns {
		return 0
	}
	return o.Observed.Repeat(l)
}

// repeats reports whether a chunk contains nothing but content, which is known from an
// earlier chunk of the same shape.
func (o *Observer) repeats(name, data []byte) bool {
	text, number, ok := o.Deltas.Match(name, data)
	if !ok {
		return false
	}
	o.Written.AddValue(text)
	if o.turns {
		o.see(number)
	}
	return true
}

// see returns the state of the choice with a raw index, or of another one if there are too
// many: others need not finish.
func (o *Observer) see(index []byte) *choice {
	if i := token.CountOf(index); i < maxChoices {
		return o.progress.choice(int(i))
	}
	return &choice{}
}

// read reads a chunk whole.
func (o *Observer) read(delta sse.Event) (s signal.Signal) {
	var d document // not a field, which would take a kilobyte of memory in each stream
	t := &o.last.summary
	*t = summary{}
	if err := d.read(delta.Data, false, &o.report, nil, func() (*members.Values, error) { return o.readChoice(&d.cursor), nil }); err != nil {
		o.progress.stray = cmp.Or(o.progress.stray, fault.Unusable(err))
		return o.Unreadable(err)
	}
	if d.failed(delta.Data) {
		return o.Fail(dialect.ReadEvent(delta.Data))
	}
	o.progress.stray = d.stray(delta.Data, o.progress.stray)
	if d.counted {
		o.Used = o.Used.Then(o.report.Usage())
	}
	if o.ModelName == "" {
		o.ModelName = jsonscan.TextOf(d.Raw(frameModel))
	}
	o.Written = o.Written.Plus(t.texts.size)
	o.Begun = o.Begun || t.content
	if t.failure != nil && !o.Begun {
		return o.Fail(t.failure)
	}
	if t.content || t.finished {
		s |= signal.Content
		o.Begun = true
	}
	if t.failure != nil {
		s |= o.BreakOff(t.failure)
	}
	if t.finished && o.progress.finished(0) {
		s |= signal.Finish
	}
	if d.hasUsage {
		s |= signal.HasUsage
	}
	if d.listed && d.count == 0 && d.hasUsage && d.Filled(frameJudged) == nil {
		s |= signal.UsageOnly
	}
	if s == signal.Content && !t.finished && t.texts.count == 1 {
		number := t.texts.Number
		if o.turns = len(o.progress.choices) > 1; o.turns { // choices that take turns
			number = o.last.choice.At(choiceIndex)
		}
		o.Deltas.Learn(delta, t.texts.last, d.At(framePadding), number)
	}
	return s
}

// readChoice reads the choice at the cursor of a chunk, and returns its members.
func (o *Observer) readChoice(c *jsonscan.Cursor) *members.Values {
	t, choice := &o.last.summary, &o.last.choice
	choice.Read(c, o.choices, nil)
	t.content = o.content(choice, &t.texts) || t.content
	reason := finishWord(choice)
	if reason != nil {
		t.finished, o.Ended = true, event.Reason(reason)
	}
	if t.failure == nil {
		t.failure = event.Failure(reason, nil)
	}
	state := o.see(choice.Raw(choiceIndex))
	state.finished = state.finished || reason != nil
	return choice
}
