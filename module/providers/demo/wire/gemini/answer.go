package gemini

import (
	"encoding/base64"
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// writer writes the answer to one request.
type writer struct {
	wire.ErrorBody
	hidden bool // the thoughts are not shown
}

// generated is an answer, or an event of its stream.
type generated struct {
	Candidates   []candidate `json:"candidates"`
	Usage        *usage      `json:"usageMetadata,omitempty"`
	ModelVersion string      `json:"modelVersion"`
	ResponseID   string      `json:"responseId"`
}

type candidate struct {
	Content      content `json:"content"`
	FinishReason string  `json:"finishReason,omitempty"`
	Index        int     `json:"index"`
}

type content struct {
	Parts []part `json:"parts"`
	Role  string `json:"role"`
}

type part struct {
	Text      *string `json:"text,omitempty"`
	Thought   bool    `json:"thought,omitempty"`
	Call      *call   `json:"functionCall,omitempty"`
	Signature string  `json:"thoughtSignature,omitempty"`
}

type call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type usage struct {
	Prompt     int `json:"promptTokenCount"`
	Cached     int `json:"cachedContentTokenCount,omitempty"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
	Total      int `json:"totalTokenCount"`
}

// Whole returns the answer as one object.
func (w *writer) Whole(a *reply.Answer) any {
	g := event(a)
	g.Usage = newUsage(a)
	for i := range a.Samples {
		s := &a.Samples[i]
		c := candidate{Content: content{Parts: []part{}, Role: "model"}, FinishReason: finishReason(s), Index: s.Index}
		if thoughts := s.ReasoningText(); thoughts != "" && !w.hidden {
			c.Content.Parts = append(c.Content.Parts, part{Text: &thoughts, Thought: true})
		}
		if text := s.Text(); text != "" {
			c.Content.Parts = append(c.Content.Parts, part{Text: &text})
		}
		c.Content.Parts = append(c.Content.Parts, calls(a, s)...)
		g.Candidates = append(g.Candidates, c)
	}
	return g
}

// Stream emits the events of the answer.
func (w *writer) Stream(a *reply.Answer, emit func(wire.Event)) {
	for i := range a.Samples {
		s := &a.Samples[i]
		send := func(kind wire.Kind, p part, last bool) {
			g := event(a)
			c := candidate{Content: content{Parts: []part{p}, Role: "model"}, Index: s.Index}
			if last {
				c.FinishReason, g.Usage = finishReason(s), newUsage(a)
			}
			g.Candidates = append(g.Candidates, c)
			emit(wire.Event{Kind: kind, Data: reply.Encode(g)})
		}
		for _, piece := range s.Reasoning {
			if !w.hidden {
				send(wire.Content, part{Text: &piece, Thought: true}, false)
			}
		}
		for _, piece := range s.Pieces {
			send(wire.Content, part{Text: &piece}, false)
		}
		for _, p := range calls(a, s) {
			send(wire.Content, p, false)
		}
		empty := ""
		send(wire.Finish, part{Text: &empty}, true)
	}
}

func event(a *reply.Answer) generated {
	return generated{Candidates: []candidate{}, ModelVersion: a.Model, ResponseID: a.ID()}
}

// calls returns the calls, the first of which is signed if reasoning led to it. One that the
// limit of tokens has cut is left out.
func calls(a *reply.Answer, s *reply.Sample) (list []part) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if !json.Valid([]byte(c.Input())) {
			continue
		}
		p := part{Call: &call{ID: c.ID, Name: c.Name, Args: json.RawMessage(c.Input())}}
		if len(s.Reasoning) > 0 && i == 0 && !a.Faults.Has(reply.NoSignature) {
			p.Signature = base64.StdEncoding.EncodeToString([]byte(a.Sign(s.ReasoningText())))
		}
		list = append(list, p)
	}
	return list
}

func newUsage(a *reply.Answer) *usage {
	if a.Faults.Has(reply.NoUsage) {
		return nil
	}
	u := a.Usage
	return &usage{
		Prompt: u.TotalInput(), Cached: u.CacheRead, Candidates: u.Output - u.Reasoning, Thoughts: u.Reasoning,
		Total: u.TotalInput() + u.Output,
	}
}

func finishReason(s *reply.Sample) string {
	switch s.Stop {
	case reply.Limited:
		return "MAX_TOKENS"
	case reply.Declined, reply.Filtered:
		return "SAFETY"
	default:
		return "STOP"
	}
}
