package reply

import "encoding/json"

// logprob is the log probability of a token.
type logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
	Top     []any   `json:"top_logprobs"`
}

// logprobs returns the list with an example value of one token, which depends on the token alone. If
// top is positive, the token has one alternative, which is the token itself.
func logprobs(token string, top int) json.RawMessage {
	l := logprob{Token: token, Logprob: -float64(len(token)%10+1) / 16, Bytes: []int{}, Top: []any{}}
	for _, b := range []byte(token) {
		l.Bytes = append(l.Bytes, int(b))
	}
	if top > 0 {
		l.Top = append(l.Top, map[string]any{"token": l.Token, "logprob": l.Logprob, "bytes": l.Bytes})
	}
	return Encode([]logprob{l})
}
