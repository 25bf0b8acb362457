package request

// blankLine separates texts of the system, escaped.
const blankLine = `\n\n`

// prompt gathers a conversation as one text, escaped. Its texts are never decoded.
type prompt struct {
	template
	system  []byte
	hoisted []byte // later system texts that join the first one
	turns   []byte
	prefill bool // the last turn is the beginning of the answer

	turn turn
}

// turn is the turn that is being written.
type turn struct {
	to      *[]byte // the part of the prompt that contains the turn
	start   int     // the beginning of the turn in that part
	text    int     // the beginning of its text
	between string  // the separator of two texts, escaped
}

func (p *prompt) reset(t template) {
	*p = prompt{template: t, system: p.system[:0], hoisted: p.hoisted[:0], turns: p.turns[:0]}
}

// open begins a turn of its own.
func (p *prompt) open(begin, between string) { p.begin(&p.turns, begin, between) }

// join begins a turn that joins other texts of the system.
func (p *prompt) join(to *[]byte) {
	begin := blankLine
	if len(*to) == 0 {
		begin = ""
	}
	p.begin(to, begin, blankLine)
}

func (p *prompt) begin(to *[]byte, begin, between string) {
	start := len(*to)
	*to = append(*to, begin...)
	p.turn = turn{to, start, len(*to), between}
}

// add adds an escaped text to the turn.
func (p *prompt) add(text []byte) {
	if len(p.turnText()) > 0 {
		*p.turn.to = append(*p.turn.to, p.turn.between...)
	}
	*p.turn.to = append(*p.turn.to, text...)
}

// turnText returns the text of the turn.
func (p *prompt) turnText() []byte { return (*p.turn.to)[p.turn.text:] }

// close ends the turn, and removes an empty one.
func (p *prompt) close(byAssistant bool) {
	switch {
	case len(p.turnText()) == 0:
		*p.turn.to = (*p.turn.to)[:p.turn.start]
	case p.turn.to == &p.turns:
		p.turns = append(p.turns, p.end...)
		p.prefill = byAssistant
	}
}

func (p *prompt) empty() bool { return len(p.system)+len(p.hoisted)+len(p.turns) == 0 }

// size returns the size of the memory that the prompt keeps, in bytes.
func (p *prompt) size() int { return cap(p.system) + cap(p.hoisted) + cap(p.turns) }

// appendTo appends the prompt up to the beginning of the answer.
func (p *prompt) appendTo(dst []byte) []byte {
	if len(p.system)+len(p.hoisted) > 0 {
		dst = append(append(dst, p.template.system...), p.system...)
		if len(p.system) > 0 && len(p.hoisted) > 0 {
			dst = append(dst, blankLine...)
		}
		dst = append(append(dst, p.hoisted...), p.end...)
	}
	if p.prefill {
		return append(dst, p.turns[:len(p.turns)-len(p.end)]...)
	}
	return append(append(dst, p.turns...), p.answer...)
}
