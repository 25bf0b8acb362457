package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// probabilities keeps the log probabilities of a text that may be cut. They arrive in
// lists after their text; those of tokens after the cut are left out. The position of a
// token is the sum of the lengths of the tokens before it.
type probabilities struct {
	waiting []byte // elements, each with a comma before it
	offset  int    // the position of the next token in the text, in bytes
	end     int    // of the text, once limited
	limited bool
}

// limit sets the position of the cut.
func (p *probabilities) limit(end int) { p.end, p.limited = end, true }

// add appends the elements of a raw list.
func (p *probabilities) add(list []byte) {
	c := jsonscan.New(list)
	for c.EnterArray(); c.Element(); {
		if token := c.Skip(); token != nil {
			p.waiting = append(append(p.waiting, ','), token...)
		}
	}
}

// list returns the elements added since the last call, without the tokens behind the
// cut, as a raw list; nil for none. The list is valid until the next call of add.
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
		if p.limited && p.offset >= p.end {
			break
		}
		p.offset += tokenLength(token)
		kept = c.Offset()
	}
	if kept == 0 {
		return nil
	}
	return append(waiting[:kept], ']')
}

// tokenLength returns the length, in bytes, of the text of a token in the list.
func tokenLength(token []byte) int {
	if text := jsonscan.MemberOf(token, "token"); jsonscan.IsString(text) {
		return jsonscan.TextLen(text)
	}
	return 0
}
