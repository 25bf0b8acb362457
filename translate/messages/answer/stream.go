package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// observer observes a stream of events by their names. It reads the data only if the name
// is not enough: for usage, text, the end of the turn, and errors. Most deltas differ from
// the one before only in their text.
type observer struct {
	signal.Observed
	report token.Report // of the last usage objects
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &observer{} }

var errNoType = errors.New("an event without a type")

// Observe reads the next event. Events after message_stop or an error are ignored.
func (o *observer) Observe(e sse.Event) signal.Signal {
	if o.Closed {
		return 0
	}
	if o.Repeats(e) { // nearly all of a stream
		return signal.Content
	}
	return o.observe(e, eventKinds[string(e.Name)])
}

// observe reads an event of a kind, which Deltas does not recognise.
func (o *observer) observe(e sse.Event, kind eventKind) signal.Signal {
	// In an answer that has begun, every such event is content, whatever its data.
	content := o.Begun && (kind == blockStart || kind == blockDelta)
	var v members.Values
	switch kind {
	case namelessEvent, messageStart, blockStart, blockDelta, messageDelta:
		c := jsonscan.New(e.Data)
		switch err := v.ReadDocument(&c, seen, nil); {
		case err != nil && content:
			return signal.Content
		case err != nil:
			return o.Unreadable(err)
		case kind == namelessEvent:
			kind = kindOf(v.Raw(seenType), v.Filled(seenError))
		}
	}
	switch kind {
	case blockStart, blockDelta, messageStart, messageDelta:
		if s := o.read(e, kind, &v); !content {
			return s
		}
		return signal.Content
	case blockStop:
		return signal.BlockEnd
	case messageStop:
		o.Closed = true
		return signal.Terminal
	case errorEvent:
		return o.Fail(Dialect.ReadEvent(e.Data))
	case namelessEvent:
		return o.Unreadable(errNoType)
	}
	return 0
}

// read reads the members of an event.
func (o *observer) read(e sse.Event, kind eventKind, v *members.Values) (s signal.Signal) {
	content := false
	switch kind {
	case messageStart:
		if o.ModelName == "" {
			o.ModelName = jsonscan.TextOf(v.Raw(seenModel))
		}
	case blockStart:
		content = o.block(v)
	case blockDelta:
		content = o.texts(e, v, seenText, seenThinking, seenJSON, seenSummary) || v.Filled(seenSignature) != nil
	case messageDelta:
		word := jsonscan.DecodedOf(v.Raw(seenReason))
		if f := event.Failure(word, nil); f != nil {
			return o.BreakOff(f) | o.count(v)
		}
		if content = v.Raw(seenReason) != nil; content {
			o.Ended = event.Reason(word)
			s |= signal.Finish
		}
	}
	s |= o.count(v)
	if content {
		s |= signal.Content
	}
	o.Begun = o.Begun || s.Has(signal.Content)
	return s
}

// count adds the usage in an event, and in its message.
func (o *observer) count(v *members.Values) signal.Signal {
	counted := count(v, seenMessageUsage, &o.report)
	if !count(v, seenUsage, &o.report) && !counted {
		return 0
	}
	o.Used = o.Used.Then(o.report.Usage())
	return signal.HasUsage
}

// block reads the block of a content_block_start, and reports whether it is content. Texts
// and thinking usually begin empty; all other blocks, such as tool calls, are content from
// the beginning.
func (o *observer) block(v *members.Values) bool {
	input := v.Filled(seenBlockInput)
	o.Written.Add(input)
	found := o.texts(sse.Event{}, v, seenBlockText, seenBlockThinking) || v.Filled(seenBlockSignature) != nil || input != nil
	typ := v.Raw(seenBlockType)
	kind := blockKindOf(typ)
	return found || typ != nil && kind != textBlock && kind != thinkingBlock
}

// texts counts the texts among members, and reports whether one is not empty. A delta with
// one text is the template of those that follow; e is that delta.
func (o *observer) texts(e sse.Event, v *members.Values, texts ...members.Member) bool {
	var slot jsonscan.Slot
	count := 0
	for _, m := range texts {
		if raw := v.Filled(m); raw != nil {
			o.Written.AddString(raw)
			slot = v.At(m)
			count++
		}
	}
	if count == 1 && e.Data != nil {
		o.Deltas.Learn(e, slot)
	}
	return count > 0
}

var errNoContent = errors.New("no content")

var inspectCount = singleanswer.InspectCount("input_tokens")

// Inspect reads a whole JSON answer to the operation. It returns a fault for an answer
// that contains an error object, no content, or no count of tokens.
func Inspect(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	if op == translate.CountTokens {
		return inspectCount(body)
	}
	var r reading
	if err := r.read(body, messages, nil); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	switch {
	case r.isError():
		return signal.Answer{}, fault.ReadAnswer(body)
	case !r.hasContent():
		return signal.Answer{}, fault.Unusable(errNoContent)
	}
	var report token.Report
	count(&r.whole, messageUsage, &report)
	word := jsonscan.DecodedOf(r.whole.Raw(messageReason))
	f := event.Failure(word, nil)
	return signal.Answer{Model: jsonscan.TextOf(r.whole.Raw(messageModel)), Usage: report.Usage(), Ended: event.Reason(word), Failed: f != nil}, f
}

// isError reports whether a JSON answer is an error.
func (r *reading) isError() bool {
	return r.whole.Set(messageError) || string(r.whole.Raw(messageType)) == `"error"`
}

// hasContent reports whether a JSON answer has a list of blocks. Servers written in Go send
// null for an empty one.
func (r *reading) hasContent() bool {
	raw := r.whole.Raw(messageContent)
	return raw != nil && (raw[0] == '[' || raw[0] == 'n')
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(jsonscan.AppendCount(dst, `{"input_tokens":`, tokens), '}')
}
