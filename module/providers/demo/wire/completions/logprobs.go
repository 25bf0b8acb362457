package completions

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"

// logprobs are four parallel arrays.
type logprobs struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []*float64           `json:"token_logprobs"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
	TextOffset    []int                `json:"text_offset"`
}

// newLogprobs returns the arrays for the pieces. offset is that of their first character. The
// first token of an echoed prompt has no value. newLogprobs returns nil if the request does
// not ask for values.
func (w *writer) newLogprobs(pieces []string, echoed bool, offset int) *logprobs {
	if w.logprobs < 0 {
		return nil
	}
	l := &logprobs{
		Tokens: []string{}, TokenLogprobs: []*float64{}, TopLogprobs: []map[string]float64{}, TextOffset: []int{},
	}
	for i, piece := range pieces {
		l.Tokens = append(l.Tokens, piece)
		l.TextOffset = append(l.TextOffset, offset)
		offset += len([]rune(piece))
		if echoed && i == 0 {
			l.TokenLogprobs, l.TopLogprobs = append(l.TokenLogprobs, nil), append(l.TopLogprobs, nil)
			continue
		}
		value := openai.Logprob(piece)
		l.TokenLogprobs = append(l.TokenLogprobs, &value)
		l.TopLogprobs = append(l.TopLogprobs, map[string]float64{piece: value})
	}
	return l
}

func (l *logprobs) add(more *logprobs) {
	l.Tokens = append(l.Tokens, more.Tokens...)
	l.TokenLogprobs = append(l.TokenLogprobs, more.TokenLogprobs...)
	l.TopLogprobs = append(l.TopLogprobs, more.TopLogprobs...)
	l.TextOffset = append(l.TextOffset, more.TextOffset...)
}
