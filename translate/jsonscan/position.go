package jsonscan

// phase is the kind of token that may come next.
type phase uint8

const (
	due    phase = iota // a value
	passed              // a value of another kind than the container, already consumed
	fresh               // the first member or element of a container, or its end
	done                // the comma after a value, or the end of the container or the document
)

// position is where a cursor is in its document: at a byte, in a number of open containers.
type position struct {
	data  []byte
	pos   int
	depth int
	phase phase
	err   error
}

// offset is Cursor.Offset.
func (p *position) offset() int {
	if p.phase == due {
		p.space()
	}
	return p.pos
}

// kind is Cursor.Kind.
func (p *position) kind() Kind {
	if p.err != nil {
		return Invalid
	}
	if p.phase != due {
		p.err = errMisuse
		return Invalid
	}
	if p.pos < len(p.data) {
		if kind := kinds[p.data[p.pos]]; kind != Invalid { // nearly always without white space
			return kind
		}
	}
	p.space()
	if p.pos == len(p.data) {
		p.fail(p.pos, whyEnd)
		return Invalid
	}
	kind := kinds[p.data[p.pos]]
	if kind == Invalid {
		p.fail(p.pos, whyValue)
	}
	return kind
}

// finish is Cursor.Finish.
func (p *position) finish() error {
	if p.err != nil {
		return p.err
	}
	if p.phase != done || p.depth != 0 {
		p.err = errMisuse
		return p.err
	}
	p.space()
	if p.pos < len(p.data) {
		p.fail(p.pos, whyTrailing)
	}
	return p.err
}

// fail keeps a syntax error unless there was an error before.
func (p *position) fail(offset int, reason string) {
	if p.err == nil {
		p.err = &SyntaxError{Offset: offset, Reason: reason}
	}
}

// space moves the cursor over white space.
func (p *position) space() { p.pos = spaceEnd(p.data, p.pos) }

// enter consumes the first byte of a container of that kind.
func (p *position) enter(kind Kind) bool {
	if p.kind() != kind {
		return false
	}
	if p.depth == MaxDepth {
		p.fail(p.pos, whyDepth)
		return false
	}
	p.pos++
	p.depth++
	p.phase = fresh
	return true
}

// next consumes the bytes before the next member or element, or the closing byte. It reports
// whether there is a next one, or else whether it has left the container.
func (p *position) next(closing byte) (more, left bool) {
	if p.err != nil {
		return false, false
	}
	if p.phase <= passed || p.depth == 0 {
		p.nothing()
		return false, false
	}
	p.space()
	switch {
	case p.pos == len(p.data):
		p.fail(p.pos, whyEnd)
	case p.data[p.pos] == closing:
		p.pos++
		p.depth--
		p.phase = done
		return false, true
	case p.phase == fresh:
		return true, false
	case p.data[p.pos] == ',':
		p.pos++
		return true, false
	default:
		p.fail(p.pos, whyNext)
	}
	return false, false
}

// nothing ends a value consumed by pass. Without such a value, the caller has not
// consumed the value of a member or element.
func (p *position) nothing() {
	if p.phase != passed {
		p.err = errMisuse
	}
	p.phase = done
}

// colon consumes the colon between a name and its value.
func (p *position) colon() bool {
	p.space()
	if p.pos == len(p.data) || p.data[p.pos] != ':' {
		p.fail(p.pos, whyColon)
		return false
	}
	p.pos++
	return true
}

// consume moves the cursor after the value that ends at an offset, or keeps the reason
// why the byte at that offset is invalid.
func (p *position) consume(end int, reason string) (raw []byte, ok bool) {
	if reason != "" {
		p.fail(end, reason)
		return nil, false
	}
	raw = p.data[p.pos:end:end]
	p.pos = end
	p.phase = done
	return raw, true
}
