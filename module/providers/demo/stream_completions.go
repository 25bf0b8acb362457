package demo

import "encoding/json"

// completionsStream writes the chunks of the completions format.
type completionsStream struct {
	*stream
	a *answer
}

// streamCompletions writes the whole stream; the choices take turns.
func (s *stream) streamCompletions(a *answer) {
	c := &completionsStream{s, a}
	queues := make([][]completionsChoice, len(a.samples))
	for i := range a.samples {
		queues[i] = c.choices(&a.samples[i])
	}
	takeTurns(queues, func(choice completionsChoice) { c.content("", c.chunk(choice)) })
	c.finish()
}

// choices are the pieces of one sample before its finish: the prompt first, as
// one piece, when it is echoed.
func (c *completionsStream) choices(s *sample) (list []completionsChoice) {
	if s.echo != "" {
		first := completionsChoice{Text: s.echo, Index: s.index}
		if c.a.logprobs >= 0 {
			first.Logprobs = c.a.legacyLogprobs(s.echoed(), true, 0)
		}
		list = append(list, first)
	}
	offset := c.a.promptLength(s)
	for _, piece := range s.pieces {
		choice := completionsChoice{Text: piece, Index: s.index}
		if c.a.logprobs >= 0 {
			choice.Logprobs = c.a.legacyLogprobs([]string{piece}, false, offset)
		}
		offset += len([]rune(piece))
		list = append(list, choice)
	}
	return list
}

func (c *completionsStream) chunk(choices ...completionsChoice) completionsAnswer {
	chunk := c.a.completionsChunk()
	chunk.Choices = append(chunk.Choices, choices...)
	if c.a.includeUsage {
		chunk.Usage = json.RawMessage("null")
	}
	return chunk
}

func (c *completionsStream) finish() {
	c.beforeFinish()
	if c.a.faults.noFinish {
		return
	}
	for i := range c.a.samples {
		c.send("", c.chunk(completionsChoice{Index: i, FinishReason: c.a.samples[i].completionsStop()}))
	}
	if c.a.includeUsage && !c.a.faults.noUsage {
		last := c.chunk()
		last.Usage = encode(c.a.chatUsage())
		c.send("", last)
	}
	c.done()
}
