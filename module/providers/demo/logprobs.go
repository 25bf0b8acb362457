package demo

type chatLogprobs struct {
	Content []tokenLogprob `json:"content"`
	Refusal []tokenLogprob `json:"refusal"`
}

type tokenLogprob struct {
	alternative
	Top []alternative `json:"top_logprobs"`
}

type alternative struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// legacyLogprobs are the four parallel arrays of the completions format.
type legacyLogprobs struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []*float64           `json:"token_logprobs"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
	TextOffset    []int                `json:"text_offset"`
}

// logprob is an example value that depends on the token alone.
func logprob(token string) float64 { return -float64(len(token)%10+1) / 16 }

// chatLogprobs makes values for the pieces; there is one alternative at most,
// the token itself.
func (a *answer) chatLogprobs(list []string) *chatLogprobs {
	l := &chatLogprobs{Content: []tokenLogprob{}}
	for _, piece := range list {
		entry := tokenLogprob{alternative: newAlternative(piece), Top: []alternative{}}
		if a.logprobs > 0 {
			entry.Top = append(entry.Top, entry.alternative)
		}
		l.Content = append(l.Content, entry)
	}
	return l
}

func newAlternative(token string) alternative {
	alt := alternative{Token: token, Logprob: logprob(token), Bytes: []int{}}
	for _, b := range []byte(token) {
		alt.Bytes = append(alt.Bytes, int(b))
	}
	return alt
}

// legacyLogprobs makes the arrays for the pieces, whose first character stands
// at offset. Nothing is known of the very first token of an echoed prompt.
func (a *answer) legacyLogprobs(list []string, echoed bool, offset int) *legacyLogprobs {
	l := &legacyLogprobs{
		Tokens: []string{}, TokenLogprobs: []*float64{}, TopLogprobs: []map[string]float64{}, TextOffset: []int{},
	}
	for i, piece := range list {
		l.Tokens = append(l.Tokens, piece)
		l.TextOffset = append(l.TextOffset, offset)
		offset += len([]rune(piece))
		if echoed && i == 0 {
			l.TokenLogprobs, l.TopLogprobs = append(l.TokenLogprobs, nil), append(l.TopLogprobs, nil)
			continue
		}
		value := logprob(piece)
		l.TokenLogprobs = append(l.TokenLogprobs, &value)
		l.TopLogprobs = append(l.TopLogprobs, map[string]float64{piece: value})
	}
	return l
}

func (l *legacyLogprobs) add(more *legacyLogprobs) {
	l.Tokens = append(l.Tokens, more.Tokens...)
	l.TokenLogprobs = append(l.TokenLogprobs, more.TokenLogprobs...)
	l.TopLogprobs = append(l.TopLogprobs, more.TopLogprobs...)
	l.TextOffset = append(l.TextOffset, more.TextOffset...)
}
