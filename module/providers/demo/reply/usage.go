package reply

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"

// count returns the usage of the answer. It simulates a prompt cache: the prefix of tools and system
// text is written in the first turn of a conversation, and read in later turns.
func (a *Answer) count() token.Usage {
	fresh, cached := int64(a.input), int64(0)
	if a.Marked {
		fresh, cached = int64(a.input-a.prefix), int64(a.prefix)
	}
	u := token.Usage{Counts: token.Counts{Fresh: fresh}, Known: true}
	if a.Later {
		u.CacheRead = cached
	} else {
		u.CacheWrite = cached
	}
	for i := range a.Samples {
		s := &a.Samples[i]
		u.Reasoning += int64(len(s.Reasoning))
		u.Answer += int64(len(s.Pieces))
		for _, c := range s.Calls {
			u.Answer += int64(len(c.Pieces))
		}
	}
	return u
}
