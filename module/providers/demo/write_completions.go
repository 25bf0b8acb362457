package demo

import "encoding/json"

type completionsAnswer struct {
	ID      string              `json:"id"`
	Object  string              `json:"object"`
	Created int64               `json:"created"`
	Model   string              `json:"model"`
	Choices []completionsChoice `json:"choices"`
	// Usage is an object, null, or absent, as the moment asks for.
	Usage       json.RawMessage `json:"usage,omitempty"`
	Fingerprint string          `json:"system_fingerprint"`
}

type completionsChoice struct {
	Text         string          `json:"text"`
	Index        int             `json:"index"`
	Logprobs     *legacyLogprobs `json:"logprobs"`
	FinishReason *string         `json:"finish_reason"`
}

// wholeCompletions is the whole answer in the completions format.
func (a *answer) wholeCompletions() completionsAnswer {
	c := a.completionsChunk()
	for i := range a.samples {
		s := &a.samples[i]
		choice := completionsChoice{Text: s.echo + s.text(), Index: s.index, FinishReason: s.completionsStop()}
		if a.logprobs >= 0 {
			choice.Logprobs = a.legacyLogprobs(s.echoed(), true, 0)
			choice.Logprobs.add(a.legacyLogprobs(s.pieces, false, a.promptLength(s)))
		}
		c.Choices = append(c.Choices, choice)
	}
	if !a.faults.noUsage {
		c.Usage = encode(a.chatUsage())
	}
	return c
}

// completionsChunk is the frame that answers and chunks have in common.
func (a *answer) completionsChunk() completionsAnswer {
	return completionsAnswer{
		ID: "cmpl-" + a.id, Object: "text_completion", Created: a.created, Model: a.model,
		Choices: []completionsChoice{}, Fingerprint: fingerprint,
	}
}

// echoed are the tokens of the prompt that is repeated, if it is.
func (s *sample) echoed() []string { return pieces(s.echo) }

// promptLength is the length of the sample's prompt in characters.
func (a *answer) promptLength(s *sample) int {
	return len([]rune(a.prompts[s.index/a.n]))
}

func (s *sample) completionsStop() *string {
	return optional(map[stop]string{
		ended: "stop", limited: "length", stopped: "stop", called: "stop", declined: "content_filter",
	}[s.stop])
}
