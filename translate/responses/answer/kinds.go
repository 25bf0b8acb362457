package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

// step is what an event of a stream does to the answer.
type step uint8

const (
	unknownStep step = iota
	quietStep        // nothing: the event is no part of the answer
	headStep         // the response has begun, or continues
	addItemStep
	endItemStep
	addPartStep
	endPartStep
	deltaStep // adds to a text
	wholeStep // contains a whole text
	annotateStep
	completeStep
	incompleteStep
	failingStep // the response has failed, and an error may follow that states why
	failStep    // the stream failed
)

// eventKind is what the events of a name mean.
type eventKind struct {
	step step
	text *textSource // of an event about a text
}

// known reports whether the gateway knows what an event means.
func (k eventKind) known() bool { return k.step != unknownStep && k.step != quietStep }

// textSource is how a stream contains the texts of a kind.
type textSource struct {
	item    itemKind
	index   members.Member // of the part in events
	path    string         // of its parts
	parts   *members.Table
	event   event.Event // a fragment as core event, without the text
	content bool        // of reasoning: the text is a part of the content instead of the summary
}

var (
	messageText      = &textSource{item: messageItem, index: eventContent, path: lostPart, parts: parts, event: event.Event{Kind: event.Text}}
	messageRefusal   = &textSource{item: messageItem, index: eventContent, path: lostPart, parts: parts, event: event.Event{Kind: event.Text, Refusal: true}}
	reasoningSummary = &textSource{item: reasoningItem, index: eventSummary, path: lostSummary, parts: summaries, event: event.Event{Kind: event.Reasoning}}
	reasoningContent = &textSource{item: reasoningItem, index: eventContent, path: lostSummary, parts: summaries, event: event.Event{Kind: event.Reasoning}, content: true}
	callArguments    = &textSource{item: callItem, event: event.Event{Kind: event.ToolArgs}}
	callInput        = &textSource{item: freeCallItem, event: event.Event{Kind: event.ToolArgs}}
)

// eventKinds lists the kinds of events by their names.
var eventKinds = map[string]eventKind{
	"response.created":     {step: headStep},
	"response.queued":      {step: headStep},
	"response.in_progress": {step: headStep},

	"response.output_item.added": {step: addItemStep},
	"response.output_item.done":  {step: endItemStep},

	"response.content_part.added":           {step: addPartStep},
	"response.content_part.done":            {endPartStep, messageText},
	"response.output_text.delta":            {deltaStep, messageText},
	"response.output_text.done":             {wholeStep, messageText},
	"response.output_text.annotation.added": {annotateStep, messageText},
	"response.refusal.delta":                {deltaStep, messageRefusal},
	"response.refusal.done":                 {wholeStep, messageRefusal},

	"response.reasoning_summary_part.added": {step: addPartStep},
	"response.reasoning_summary_part.done":  {endPartStep, reasoningSummary},
	"response.reasoning_summary_text.delta": {deltaStep, reasoningSummary},
	"response.reasoning_summary_text.done":  {wholeStep, reasoningSummary},
	"response.reasoning_text.delta":         {deltaStep, reasoningContent},
	"response.reasoning_text.done":          {wholeStep, reasoningContent},
	"response.reasoning_part.added":         {step: quietStep},
	"response.reasoning_part.done":          {step: quietStep},

	"response.function_call_arguments.delta": {deltaStep, callArguments},
	"response.function_call_arguments.done":  {wholeStep, callArguments},
	"response.custom_tool_call_input.delta":  {deltaStep, callInput},
	"response.custom_tool_call_input.done":   {wholeStep, callInput},

	"response.completed":  {step: completeStep},
	"response.incomplete": {step: incompleteStep},
	"response.failed":     {step: failingStep},
	"error":               {step: failStep},

	"response.metadata": {step: quietStep},
	"keepalive":         {step: quietStep},
}

// eventKindOf returns what an event of that name means.
func eventKindOf(name []byte) eventKind {
	kind, ok := eventKinds[string(name)]
	if !ok && (bytes.HasPrefix(name, []byte("codex.")) || bytes.HasPrefix(name, []byte("responsesapi."))) {
		kind.step = quietStep
	}
	return kind
}

// partSources lists the texts of parts by the types of the parts.
var partSources = map[string]*textSource{
	"output_text": messageText, "refusal": messageRefusal, "summary_text": reasoningSummary, "reasoning_text": reasoningContent,
}

// itemKind is the type of an item of an answer.
type itemKind uint8

const (
	unknownItem itemKind = iota // core events cannot express it
	messageItem
	callItem
	freeCallItem
	reasoningItem
	imageItem // of the provider's own tool, whole
)

// itemKinds lists the kinds of items by their types.
var itemKinds = map[string]itemKind{
	"message": messageItem, "function_call": callItem, "custom_tool_call": freeCallItem, "reasoning": reasoningItem,
	"image_generation_call": imageItem,
}

// kindOf returns the kind of an item of a raw type.
func kindOf(raw []byte) itemKind { return itemKinds[string(jsonscan.Inner(raw))] }

func (k itemKind) isCall() bool { return k == callItem || k == freeCallItem }
