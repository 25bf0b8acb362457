package tracing

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// IsRecorded reports whether the span of the site in a context is recorded.
func IsRecorded(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// message is a message in the conventions: all texts of a role between those of others.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"` // of an answer
}

// part is a part of a message.
type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	Name      string `json:"name,omitempty"` // of a tool
	Arguments any    `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

const assistant = "assistant"

// roles are the roles of the texts of a conversation; the other kinds of texts are no messages.
var roles = map[aigateway.GuardKind]string{
	aigateway.GuardUser: "user", aigateway.GuardAssistant: assistant, aigateway.GuardReasoning: assistant,
	aigateway.GuardCall: assistant, aigateway.GuardToolResult: "tool",
}

// RequestContent sets the texts of a request as attributes of the site's span: instructions, and
// messages.
func RequestContent(ctx context.Context, list []aigateway.GuardText) {
	var instructions []part
	for i := range list {
		if list[i].Kind == aigateway.GuardSystem {
			instructions = append(instructions, partOf(&list[i]))
		}
	}
	set(ctx, systemInstructions, instructions)
	set(ctx, inputMessages, messagesOf(list))
}

// AnswerContent sets the texts of an answer as an attribute of the site's span. The result, which
// may be nil, has why the answer ended.
func AnswerContent(ctx context.Context, list []aigateway.GuardText, r *exchange.Result) {
	messages := messagesOf(list)
	for i := range messages {
		messages[i].Finish = finishOf(r)
	}
	set(ctx, outputMessages, messages)
}

// set sets an attribute to the JSON of a list, unless that is empty.
func set[Item any](ctx context.Context, name string, list []Item) {
	if len(list) == 0 {
		return
	}
	text, _ := json.Marshal(list) // texts always encode
	trace.SpanFromContext(ctx).SetAttributes(attribute.String(name, string(text)))
}

func messagesOf(list []aigateway.GuardText) (messages []message) {
	for i := range list {
		role := roles[list[i].Kind]
		if role == "" {
			continue
		}
		if last := len(messages) - 1; last < 0 || messages[last].Role != role {
			messages = append(messages, message{Role: role})
		}
		last := &messages[len(messages)-1]
		last.Parts = append(last.Parts, partOf(&list[i]))
	}
	return messages
}

func partOf(t *aigateway.GuardText) part {
	switch t.Kind {
	case aigateway.GuardReasoning:
		return part{Type: "reasoning", Content: t.Text}
	case aigateway.GuardToolResult:
		return part{Type: "tool_call_response", Response: t.Text}
	case aigateway.GuardCall:
		if json.Valid([]byte(t.Text)) {
			return part{Type: "tool_call", Name: t.Name, Arguments: json.RawMessage(t.Text)}
		}
		return part{Type: "tool_call", Name: t.Name, Arguments: t.Text}
	}
	return part{Type: "text", Content: t.Text}
}

// finishes are the reasons why answers end, in the words of the conventions.
var finishes = map[event.FinishReason]string{
	event.FinishLength: "length", event.FinishTools: "tool_call", event.FinishFiltered: "content_filter", event.FinishRefused: "content_filter",
}

// finishOf returns why an answer ended: "error" if the client has not got all of it.
func finishOf(r *exchange.Result) string {
	switch {
	case r == nil || !r.Whole() || r.Reading.Unread:
		return "error"
	case finishes[r.EndedBy] != "":
		return finishes[r.EndedBy]
	}
	return "stop"
}
