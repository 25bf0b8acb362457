package reply

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"

// count returns the usage of the answer. It simulates a prompt cache: the prefix of tools and system
// text is written in the first turn of a conversation, and read in later turns.
func (a *Answer) count() token.Usage {
	conversation, size := &a.Request.Conversation, &a.Request.Size
	fresh, cached := int64(size.input), int64(0)
	if conversation.Marked {
		fresh, cached = int64(size.input-size.prefix), int64(size.prefix)
	}
	u := token.Usage{Counts: token.Counts{Fresh: fresh}, Known: true}
	if conversation.Later {
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
