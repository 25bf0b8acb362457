package responses

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// item is an item of the output. As JSON it is complete.
type item interface {
	// id returns the id that events refer to.
	id() string
	// announced returns the item without its content.
	announced() item
	// stream emits the events of its content.
	stream(*stream)
}

type reasoningItem struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Status    string        `json:"status,omitempty"` // only of reasoning that was cut off
	Summary   []summaryPart `json:"summary"`
	Encrypted *string       `json:"encrypted_content"`

	pieces [][]string // by part of the summary
}

type summaryPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type messageItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Phase   string `json:"phase"`
	Content []any  `json:"content"` // one textPart or refusalPart

	pieces   []string
	logprobs func(pieces []string) []openai.TokenLogprob
	refused  bool
}

type textPart struct {
	Type        string                `json:"type"`
	Text        string                `json:"text"`
	Annotations []any                 `json:"annotations"`
	Logprobs    []openai.TokenLogprob `json:"logprobs"`
}

type refusalPart struct {
	Type    string `json:"type"`
	Refusal string `json:"refusal"`
}

// callHead is what calls of both kinds begin with.
type callHead struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`

	pieces []string // of the arguments or the input
}

type functionCall struct {
	callHead
	Arguments string `json:"arguments"`
}

type customCall struct {
	callHead
	Input string `json:"input"`
}

type compactionItem struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Encrypted string `json:"encrypted_content"`
}

// items returns the output of an answer: reasoning, the message, the calls.
func (w *writer) items(a *reply.Answer) []item {
	s := &a.Samples[0]
	list := []item{}
	if s.Reasoning != nil {
		list = append(list, w.newReasoning(a, s))
	}
	if len(s.Pieces) > 0 {
		list = append(list, w.newMessage(a, s))
	}
	for i := range s.Calls {
		list = append(list, newCall(&s.Calls[i], itemStatus(s, i == len(s.Calls)-1)))
	}
	return list
}

func (w *writer) newReasoning(a *reply.Answer, s *reply.Sample) *reasoningItem {
	r := &reasoningItem{ID: "rs_" + a.ID(), Type: "reasoning", Summary: []summaryPart{}}
	if last := len(s.Pieces)+len(s.Calls) == 0; itemStatus(s, last) == cutOff {
		r.Status = cutOff
	}
	if w.encrypted && !a.Faults.Has(reply.NoSignature) {
		r.Encrypted = new(a.Sign(""))
	}
	if !w.summary {
		return r
	}
	r.pieces = sentences(s.Reasoning)
	for _, pieces := range r.pieces {
		r.Summary = append(r.Summary, summaryPart{"summary_text", strings.Join(pieces, "")})
	}
	return r
}

// sentences groups pieces into sentences, which end with a full stop. It removes the space at
// the beginning of a sentence.
func sentences(pieces []string) (list [][]string) {
	var sentence []string
	for i, piece := range pieces {
		if sentence == nil {
			piece = strings.TrimLeft(piece, " ")
		}
		sentence = append(sentence, piece)
		if strings.HasSuffix(piece, ".") || i == len(pieces)-1 {
			list, sentence = append(list, sentence), nil
		}
	}
	return list
}

func (w *writer) newMessage(a *reply.Answer, s *reply.Sample) *messageItem {
	m := &messageItem{
		ID: "msg_" + a.ID(), Type: "message", Status: itemStatus(s, len(s.Calls) == 0), Role: "assistant",
		Phase: "final_answer", pieces: s.Pieces, logprobs: w.newLogprobs, refused: s.Refused,
	}
	if len(s.Calls) > 0 {
		m.Phase = "commentary"
	}
	m.Content = []any{m.part(s.Pieces)}
	return m
}

// part returns the content of a message that consists of these pieces.
func (m *messageItem) part(pieces []string) any {
	text := strings.Join(pieces, "")
	if m.refused {
		return refusalPart{"refusal", text}
	}
	return textPart{"output_text", text, []any{}, m.logprobs(pieces)}
}

// newLogprobs returns the values of pieces of the text, an empty list if the request does not
// ask for values.
func (w *writer) newLogprobs(pieces []string) []openai.TokenLogprob {
	if w.logprobs < 0 {
		return []openai.TokenLogprob{}
	}
	return openai.Logprobs(pieces, w.logprobs)
}

func newCall(c *reply.Call, status string) item {
	head := callHead{
		ID: "fc_" + c.ID, Type: "function_call", Status: status, CallID: "call_" + c.ID,
		Namespace: c.Namespace, Name: c.Name, pieces: c.Pieces,
	}
	if !c.Custom {
		return &functionCall{head, c.Input()}
	}
	head.ID, head.Type = "ctc_"+c.ID, "custom_tool_call"
	return &customCall{head, c.Input()}
}

// itemStatus returns the status of an item. The last item has the status of the response.
func itemStatus(s *reply.Sample, last bool) string {
	if last {
		return ends[s.Stop].status
	}
	return completed
}

func (r *reasoningItem) id() string { return r.ID }
func (m *messageItem) id() string   { return m.ID }
func (h *callHead) id() string      { return h.ID }

func (r *reasoningItem) announced() item {
	return &reasoningItem{ID: r.ID, Type: r.Type, Summary: []summaryPart{}}
}

func (m *messageItem) announced() item {
	empty := *m
	empty.Status, empty.Content = inProgress, []any{}
	return &empty
}

func (c *functionCall) announced() item {
	empty := *c
	empty.Status, empty.Arguments = inProgress, ""
	return &empty
}

func (c *customCall) announced() item {
	empty := *c
	empty.Status, empty.Input = inProgress, ""
	return &empty
}
