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
	dst       *[]byte // the part of the prompt that contains the turn
	start     int     // the beginning of the turn in that part
	text      int     // the beginning of its text
	separator string  // the separator of two texts, escaped
}

func (p *prompt) reset(t template) {
	*p = prompt{template: t, system: p.system[:0], hoisted: p.hoisted[:0], turns: p.turns[:0]}
}

// open begins a turn of its own.
func (p *prompt) open(begin, separator string) { p.begin(&p.turns, begin, separator) }

// join begins a turn that joins other texts of the system.
func (p *prompt) join(dst *[]byte) {
	begin := blankLine
	if len(*dst) == 0 {
		begin = ""
	}
	p.begin(dst, begin, blankLine)
}

func (p *prompt) begin(dst *[]byte, begin, separator string) {
	start := len(*dst)
	*dst = append(*dst, begin...)
	p.turn = turn{dst, start, len(*dst), separator}
}

// add adds an escaped text to the turn.
func (p *prompt) add(text []byte) {
	if len(p.turnText()) > 0 {
		*p.turn.dst = append(*p.turn.dst, p.turn.separator...)
	}
	*p.turn.dst = append(*p.turn.dst, text...)
}

// turnText returns the text of the turn.
func (p *prompt) turnText() []byte { return (*p.turn.dst)[p.turn.text:] }

// close ends the turn, and removes an empty one.
func (p *prompt) close(byAssistant bool) {
	switch {
	case len(p.turnText()) == 0:
		*p.turn.dst = (*p.turn.dst)[:p.turn.start]
	case p.turn.dst == &p.turns:
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
