package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// inLogprobs is the path of the members of log probabilities.
const inLogprobs = openai.InChoice + "logprobs."

// The members of a choice and of its log probabilities. The format has no reasoning, but some
// servers send it in the members of chat answers; and some send the log probabilities of chat
// answers.
var (
	choices            = openai.NewChoices()
	choiceText         = choices.Of(members.String, "text")
	choiceReasoning    = choices.Of(members.String, "reasoning_content")
	choiceReasoningToo = choices.Of(members.String, "reasoning") // of other servers, or the same again

	logprobs        = choices.Inside(inLogprobs, "logprobs")
	logprobsTokens  = logprobs.Maybe(members.Array, "tokens")
	logprobsValues  = logprobs.Maybe(members.Array, "token_logprobs")
	logprobsTop     = logprobs.Maybe(members.Array, "top_logprobs")
	logprobsContent = logprobs.Maybe(members.Array, "content")
	_               = logprobs.Skip("text_offset") // follow from the tokens
)

// NewParser returns a parser of one answer, a stream or a JSON body (wire
// format D.6).
func NewParser(h event.Handler) *openai.Parser {
	return openai.NewParser(choices, &choiceParser{}, h)
}

// choiceParser sends the events of the choices of completions answers.
type choiceParser struct{ list logprobList }

// SendChoice sends the reasoning, the text and the log probabilities of a choice.
func (t *choiceParser) SendChoice(p *openai.Parser, v *members.Values, choice openai.Choice) {
	reasoning := choiceReasoning
	if v.Filled(reasoning) == nil {
		reasoning = choiceReasoningToo
	}
	p.Events.SendText(event.Event{Kind: event.Reasoning, Choice: choice.Index}, v.Raw(reasoning), v.At(reasoning))
	p.Events.SendText(event.Event{Kind: event.Text, Choice: choice.Index}, v.Raw(choiceText), v.At(choiceText))
	if list := t.list.listOf(v); list != nil {
		p.Events.Send(event.Event{Kind: event.Logprobs, Choice: choice.Index, Logprobs: list})
	}
}

// Repeated does nothing: texts have no state.
func (t *choiceParser) Repeated(*event.Event) {}

// End returns no error: an answer may be empty.
func (t *choiceParser) End(*openai.Parser) error { return nil }

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return openai.NewObserver(choices, hasText) }

// hasText reports whether a choice has a text that is not empty, and adds the text.
func hasText(choice *members.Values, texts *openai.Texts) bool {
	return texts.Add(choice.Raw(choiceText), choice.At(choiceText))
}
