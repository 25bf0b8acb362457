package reply

// Usage has the counts of tokens of an answer. No token is in two of the counts of input.
type Usage struct {
	Input      int // neither read from nor written to a cache
	CacheRead  int
	CacheWrite int
	Output     int // reasoning included
	Reasoning  int
}

// TotalInput returns all tokens of the request.
func (u Usage) TotalInput() int { return u.Input + u.CacheRead + u.CacheWrite }

// count returns the sum over the samples. It simulates a prompt cache: the prefix of tools
// and system text is written in the first turn of a conversation, and read in later turns.
func (a *Answer) count() Usage {
	u := Usage{Input: a.input}
	if a.Marked && a.Later {
		u.CacheRead, u.Input = a.prefix, a.input-a.prefix
	} else if a.Marked {
		u.CacheWrite, u.Input = a.prefix, a.input-a.prefix
	}
	for i := range a.Samples {
		reasoning, rest := a.Samples[i].tokens()
		u.Reasoning += reasoning
		u.Output += reasoning + rest
	}
	return u
}

func (s *Sample) tokens() (reasoning, rest int) {
	rest = len(s.Pieces)
	for _, c := range s.Calls {
		rest += len(c.Pieces)
	}
	return len(s.Reasoning), rest
}
