package demo

// usage counts the tokens of one answer; the counts of input do not overlap.
type usage struct {
	input      int // neither read from nor written to a cache
	cacheRead  int
	cacheWrite int
	output     int // reasoning included
	reasoning  int
}

func (u usage) totalInput() int { return u.input + u.cacheRead + u.cacheWrite }

// count adds up the samples and says what a prompt cache would have done: the
// prefix of tools and system text is written in the first turn of a
// conversation and read in the later ones.
func (a *answer) count() usage {
	u := usage{input: a.input}
	if a.marked && a.later {
		u.cacheRead, u.input = a.prefix, a.input-a.prefix
	} else if a.marked {
		u.cacheWrite, u.input = a.prefix, a.input-a.prefix
	}
	for i := range a.samples {
		reasoning, rest := a.samples[i].tokens()
		u.reasoning += reasoning
		u.output += reasoning + rest
	}
	return u
}

func (s *sample) tokens() (reasoning, rest int) {
	if s.thought != nil {
		reasoning = len(s.thought.pieces)
	}
	rest = len(s.pieces)
	for _, c := range s.calls {
		rest += len(c.pieces)
	}
	return reasoning, rest
}

type messagesUsage struct {
	InputTokens   int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Created       struct {
		FiveMinutes int `json:"ephemeral_5m_input_tokens"`
		OneHour     int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	ServiceTier string `json:"service_tier"`
}

func (u usage) messages() messagesUsage {
	m := messagesUsage{
		InputTokens: u.input, CacheCreation: u.cacheWrite, CacheRead: u.cacheRead,
		OutputTokens: u.output, ServiceTier: "standard",
	}
	m.Created.FiveMinutes = u.cacheWrite
	m.OutputDetails.Thinking = u.reasoning
	return m
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		Cached int `json:"cached_tokens"`
		Text   int `json:"text_tokens"`
		Audio  int `json:"audio_tokens"`
		Image  int `json:"image_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Text      int `json:"text_tokens"`
		Audio     int `json:"audio_tokens"`
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// chat is the usage of the chat and completions formats.
func (a *answer) chatUsage() chatUsage {
	u := a.usage
	c := chatUsage{
		PromptTokens: u.totalInput(), CompletionTokens: u.output,
		TotalTokens: u.totalInput() + u.output,
	}
	c.PromptDetails.Cached = u.cacheRead
	c.PromptDetails.Image = a.media * mediaTokens
	c.PromptDetails.Text = c.PromptTokens - c.PromptDetails.Image
	c.CompletionDetails.Reasoning = u.reasoning
	c.CompletionDetails.Text = u.output - u.reasoning
	return c
}
