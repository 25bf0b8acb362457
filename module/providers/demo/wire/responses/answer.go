package responses

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// writer writes the answer to one request.
type writer struct {
	settings  settings
	summary   bool // reasoning is summarized
	encrypted bool // reasoning is sealed
	logprobs  int  // alternatives for each token; negative for no values
	obfuscate bool // deltas are padded
}

type response struct {
	ID                 string      `json:"id"`
	Object             string      `json:"object"`
	CreatedAt          int64       `json:"created_at"`
	Status             string      `json:"status"`
	Background         bool        `json:"background"`
	CompletedAt        *int64      `json:"completed_at"`
	Error              *failure    `json:"error"`
	IncompleteDetails  *incomplete `json:"incomplete_details"`
	Model              string      `json:"model"`
	Output             []item      `json:"output"`
	PreviousResponseID *string     `json:"previous_response_id"`
	ServiceTier        string      `json:"service_tier"`
	Store              bool        `json:"store"`
	Usage              *usage      `json:"usage"`
	settings
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

// The states of a response and of its items.
const (
	inProgress = "in_progress"
	completed  = "completed"
	cutOff     = "incomplete"
	failed     = "failed"
)

// end is how a response ends.
type end struct{ status, reason string }

// ends are the ends of responses, by the reason why the sample ended. A refusal ends with
// status completed.
var ends = map[reply.Stop]end{
	reply.Ended: {completed, ""}, reply.Stopped: {completed, ""}, reply.Called: {completed, ""},
	reply.Declined: {completed, ""},
	reply.Limited:  {cutOff, "max_output_tokens"},
	reply.Filtered: {cutOff, "content_filter"},
}

// Whole returns the answer as one response.
func (w *writer) Whole(a *reply.Answer) any { return w.ended(a) }

// begun returns the response without output, for the beginning of a stream.
func (w *writer) begun(a *reply.Answer) *response {
	return &response{
		ID: "resp_" + a.ID(), Object: "response", CreatedAt: a.Created, Status: inProgress, Model: a.Model,
		Output: []item{}, ServiceTier: "default", settings: w.settings,
	}
}

// ended returns the complete response.
func (w *writer) ended(a *reply.Answer) *response {
	end := ends[a.Samples[0].Stop]
	r := w.begun(a)
	r.Status, r.Output, r.Usage = end.status, w.items(a), newUsage(a)
	if end.reason != "" {
		r.IncompleteDetails = &incomplete{end.reason}
	} else {
		r.CompletedAt = &a.Created
	}
	if a.Faults.Has(reply.NullContent) && len(r.Output) == 0 {
		r.Output = nil
	}
	return r
}

// Failed returns a response that failed.
func (w *writer) Failed(a *reply.Answer, refused *reply.Refusal) any { return w.failed(a, refused) }

func (w *writer) failed(a *reply.Answer, refused *reply.Refusal) *response {
	r := w.begun(a)
	r.Status, r.Error = failed, &failure{refused.Code, refused.Message}
	return r
}

// FailedEvent returns the event of a response that failed, or an error event if the stream
// has no response yet.
func (w *writer) FailedEvent(a *reply.Answer, refused *reply.Refusal, sent int) wire.Event {
	if sent > 0 {
		return named(wire.Frame, event{Type: "response.failed", Sequence: sent, Response: w.failed(a, refused)})
	}
	return wire.Event{Name: "error", Data: reply.Encode(errorEvent{
		"error", wire.Optional(refused.Code), refused.Message, wire.Optional(refused.Param), sent,
	})}
}

type errorEvent struct {
	Type     string  `json:"type"`
	Code     *string `json:"code"`
	Message  string  `json:"message"`
	Param    *string `json:"param"`
	Sequence int     `json:"sequence_number"`
}
