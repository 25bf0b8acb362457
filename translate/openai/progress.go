package openai

// progress is the state of the choices of an answer, by index.
type progress []choice

// choice is the state of a choice.
type choice struct{ seen, finished, refused bool }

// choice returns the choice of an index, which has begun.
func (p *progress) choice(index int) *choice {
	for len(*p) <= index {
		*p = append(*p, choice{})
	}
	c := &(*p)[index]
	c.seen = true
	return c
}

// finished reports whether all choices have finished: those that were asked for, and any
// others that have begun.
func (p progress) finished(asked int) bool {
	for i, c := range p {
		if !c.finished && (c.seen || i < asked) {
			return false
		}
	}
	return len(p) >= asked
}
