package openai

// TokenLogprob is the log probability of one token.
type TokenLogprob struct {
	alternative
	Top []alternative `json:"top_logprobs"`
}

type alternative struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// Logprob returns an example value that depends on the token alone.
func Logprob(token string) float64 { return -float64(len(token)%10+1) / 16 }

// Logprobs returns the values of the tokens. If top is positive, each token has one
// alternative, which is the token itself.
func Logprobs(tokens []string, top int) []TokenLogprob {
	list := []TokenLogprob{}
	for _, token := range tokens {
		entry := TokenLogprob{alternative: newAlternative(token), Top: []alternative{}}
		if top > 0 {
			entry.Top = append(entry.Top, entry.alternative)
		}
		list = append(list, entry)
	}
	return list
}

func newAlternative(token string) alternative {
	alt := alternative{Token: token, Logprob: Logprob(token), Bytes: []int{}}
	for _, b := range []byte(token) {
		alt.Bytes = append(alt.Bytes, int(b))
	}
	return alt
}
