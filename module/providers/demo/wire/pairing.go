package wire

// Pairing checks the law of tools: every call is answered by one result.
type Pairing struct{ open map[string]bool }

// Call notes a call.
func (p *Pairing) Call(id string) {
	if p.open == nil {
		p.open = make(map[string]bool)
	}
	p.open[id] = true
}

// Result reports whether a call with this id waited for its result.
func (p *Pairing) Result(id string) bool {
	waited := p.open[id]
	delete(p.open, id)
	return waited
}

// Settled reports whether every call has its result.
func (p *Pairing) Settled() bool { return len(p.open) == 0 }
