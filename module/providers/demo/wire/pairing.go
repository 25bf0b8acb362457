package wire

// Pairing checks that every call of a tool has one result.
type Pairing struct{ open map[string]bool }

// Call adds a call.
func (p *Pairing) Call(id string) {
	if p.open == nil {
		p.open = make(map[string]bool)
	}
	p.open[id] = true
}

// Result adds a result. It reports whether there was a call with its id and without a result.
func (p *Pairing) Result(id string) bool {
	waited := p.open[id]
	delete(p.open, id)
	return waited
}

// Settled reports whether every call has its result.
func (p *Pairing) Settled() bool { return len(p.open) == 0 }
