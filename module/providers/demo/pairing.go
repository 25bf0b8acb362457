package demo

// pairing checks the law that both conversation formats share: every call of a
// tool is answered by one result, at once, with nothing in between.
type pairing struct{ open map[string]bool }

func (p *pairing) call(id string) {
	if p.open == nil {
		p.open = make(map[string]bool)
	}
	p.open[id] = true
}

// result reports whether a call with this id waited for it.
func (p *pairing) result(id string) bool {
	waited := p.open[id]
	delete(p.open, id)
	return waited
}

// settled reports whether every call has its result.
func (p *pairing) settled() bool { return len(p.open) == 0 }
