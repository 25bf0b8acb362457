package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// probabilities are the log probabilities of a text that may be cut: they come
// in lists behind their text, and those of tokens behind the cut are left out.
// Where a token begins is known by the lengths of those before it.
type probabilities struct {
	waiting []byte // elements, each with a comma before it
	at      int    // where the next token begins in the text, in bytes
	end     int    // of the text, once limited
	limited bool
}

// limit says where the text was cut.
func (p *probabilities) limit(end int) { p.end, p.limited = end, true }

// add adds a list, which waits for list.
func (p *probabilities) add(list []byte) {
	c := jsonscan.New(list)
	for c.EnterArray(); c.Element(); {
		if token := c.Skip(); token != nil {
			p.waiting = append(append(p.waiting, ','), token...)
		}
	}
}

// list returns what was added since it was called last, as a list without the
// tokens behind the end; nil when there is nothing. It is valid until add.
func (p *probabilities) list() []byte {
	if len(p.waiting) == 0 {
		return nil
	}
	p.waiting[0] = '['
	waiting := append(p.waiting, ']')
	p.waiting = waiting[:0]
	var kept int
	c := jsonscan.New(waiting)
	for c.EnterArray(); c.Element(); {
		token := c.Skip()
		if p.limited && p.at >= p.end {
			break
		}
		p.at += tokenLength(token)
		kept = c.Offset()
	}
	if kept == 0 {
		return nil
	}
	return append(waiting[:kept], ']')
}

// tokenLength is the length in bytes of the text of a token in the list.
func tokenLength(token []byte) int {
	for name, value := range jsonscan.Members(token) {
		if string(name) == "token" && jsonscan.IsString(value) {
			return jsonscan.TextLen(value)
		}
	}
	return 0
}
