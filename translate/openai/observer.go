package openai

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
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
	content Content
	cursor  jsonscan.Cursor // a field, so that a chunk costs no allocation
	texts   Texts           // of the current chunk, a field for the same reason

	counts   token.Report
	finished map[int64]bool    // the choices seen, and whether they have finished
	template jsonscan.Template // of the last chunk that had only content
}

// Content reads the member of a choice at the cursor. It consumes the value, and
// reports whether the value is content that is not empty. It adds the text to texts.
type Content func(c *jsonscan.Cursor, texts *Texts) (found bool)

// Texts contains the texts of a chunk: text, reasoning and arguments of tool calls.
type Texts struct {
	size  token.Text
	count int
	last  jsonscan.Slot // the position of the text that was read last
}

// Read consumes a string that is text, and reports whether it is not empty. A value of
// another kind is skipped.
func (t *Texts) Read(c *jsonscan.Cursor) bool {
	raw, at := StringWithSlot(c)
	if len(raw) <= len(`""`) {
		return false
	}
	t.size.AddString(raw)
	t.count++
	t.last = at
	return true
}

// Empty reports whether no text was read.
func (t *Texts) Empty() bool { return t.count == 0 }

// Add adds the texts that were read later.
func (t *Texts) Add(later Texts) {
	if later.count > 0 {
		*t = Texts{size: t.size.Plus(later.size), count: t.count + later.count, last: later.last}
	}
}

// NewObserver returns an observer for one stream.
func NewObserver(content Content) *Observer {
	return &Observer{content: content, finished: make(map[int64]bool, 1)}
}

var _ signal.Observer = (*Observer)(nil)

// Observe reads the next event. Events after [DONE] or an error are ignored.
func (o *Observer) Observe(event sse.Event) signal.Signal {
	switch {
	case o.Over || len(event.Data) == 0:
		return 0
	case string(event.Name) != "error" && o.repeats(event.Data): // nearly all of a stream
		return signal.Content
	case string(bytes.TrimSpace(event.Data)) == "[DONE]":
		o.Over = true
		return signal.Terminal
	case string(event.Name) == "error":
		return o.Fail(dialect.ReadEvent(event.Data))
	default:
		signal := o.chunk(event.Data)
		o.cursor = jsonscan.Cursor{} // drops the reference to the chunk
		return signal
	}
}

// repeats reports whether a chunk contains nothing but content, which is known from an
// earlier chunk of the same shape.
func (o *Observer) repeats(data []byte) bool {
	values, ok := o.template.Match(data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	o.Written.AddString(values[0])
	return true
}

// chunk reads a chunk whole.
func (o *Observer) chunk(data []byte) signal.Signal {
	e := envelope{counts: o.counts}
	var t chunkSummary
	o.texts = Texts{}
	o.cursor = jsonscan.New(data)
	if err := e.read(&o.cursor, func() { o.choice(&t) }); err != nil {
		return o.Unreadable(err)
	}
	if e.failed() || t.failed {
		return o.Fail(dialect.ReadEvent(data))
	}
	o.note(&e)
	o.Written = o.Written.Plus(o.texts.size)
	s := o.signal(&e, &t)
	if s == signal.Content && o.texts.count == 1 {
		o.template.Learn(data, [jsonscan.MaxHoles]jsonscan.Slot{o.texts.last, e.padding})
	}
	return s
}

// note keeps the usage, the model and the errors of the envelope.
func (o *Observer) note(e *envelope) {
	o.counts.Terms = e.counts.Terms
	if e.counted() {
		o.counts, o.Used = e.counts, o.Used.Then(e.counts.Usage())
	}
	if o.ModelName == "" {
		o.ModelName = e.name()
	}
}

// signal returns the signal of a chunk.
func (o *Observer) signal(e *envelope, t *chunkSummary) (s signal.Signal) {
	if t.content || t.finished {
		s |= signal.Content
		o.Begun = true
	}
	if t.finished && o.allFinished() {
		s |= signal.Finish
	}
	if e.hasUsage {
		s |= signal.HasUsage
	}
	if e.listed && e.count == 0 && e.hasUsage {
		s |= signal.UsageOnly
	}
	return s
}

func (o *Observer) allFinished() bool {
	for _, finished := range o.finished {
		if !finished {
			return false
		}
	}
	return true
}

// chunkSummary is the summary of the choices of one chunk.
type chunkSummary struct {
	content  bool
	finished bool // at least one choice has finished
	failed   bool
}

// choice reads one choice of a chunk.
func (o *Observer) choice(t *chunkSummary) {
	c := &o.cursor
	if !c.EnterObject() {
		c.Skip()
		return
	}
	index, finished := int64(0), false
	for c.Member() {
		switch string(c.Name()) {
		case "index":
			index = Count(c)
		case "finish_reason":
			reason := c.StringOrSkip()
			finished = len(reason) > len(`""`)
			t.failed = t.failed || string(reason) == `"error"`
		default:
			t.content = o.content(c, &o.texts) || t.content
		}
	}
	if index < maxChoices { // others need not finish
		o.finished[index] = o.finished[index] || finished
	}
	t.finished = t.finished || finished
}
