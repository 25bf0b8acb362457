package choices

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// template is the shape of a chunk that said nothing but one piece of text. Most
// chunks of a stream differ from the one before in that piece alone, and in the
// padding that some servers add. When all bytes around the two are the same, and
// they are one valid string each again, the chunk says the same of another text:
// there is nothing else to read.
type template struct {
	before  []byte // up to the text, which begins with its quote
	between []byte // behind the text, up to the padding
	after   []byte // behind the padding
	padded  bool
	known   bool

	event translate.Event // without its text
	slot  Slot            // of the text that was sent last
	pad   Slot
}

func (t *template) forget() { t.known, t.slot, t.pad = false, Slot{}, Slot{} }

// learn keeps the shape of a chunk that gave only this event.
func (t *template) learn(data []byte, e *translate.Event) {
	if t.slot == (Slot{}) || e.Text == nil {
		return
	}
	t.padded = t.pad.Start >= t.slot.End
	if !t.padded {
		t.pad = Slot{len(data), len(data)}
	}
	t.before = append(t.before[:0], data[:t.slot.Start]...)
	t.between = append(t.between[:0], data[t.slot.End:t.pad.Start]...)
	t.after = append(t.after[:0], data[t.pad.End:]...)
	t.event = *e
	t.event.Text = nil
	t.known = true
}

// text returns the text of a chunk that has the shape, as it is written; nil if
// it has not.
func (t *template) text(c *jsonscan.Cursor, data []byte) []byte {
	if !t.known || !bytes.HasPrefix(data, t.before) {
		return nil
	}
	raw, rest := cutString(c, data[len(t.before):])
	if raw == nil || !bytes.HasPrefix(rest, t.between) {
		return nil
	}
	if rest = rest[len(t.between):]; t.padded {
		var pad []byte
		if pad, rest = cutString(c, rest); pad == nil {
			return nil
		}
	}
	if !bytes.Equal(rest, t.after) {
		return nil
	}
	return raw
}

// cutString cuts the string that data begins with; raw is nil if there is none.
func cutString(c *jsonscan.Cursor, data []byte) (raw, rest []byte) {
	if len(data) == 0 || data[0] != '"' {
		return nil, nil
	}
	*c = jsonscan.New(data)
	raw, ok := c.RawString()
	if !ok {
		return nil, nil
	}
	return raw, data[c.Offset():]
}

// repeats sends the event of a chunk that has the shape of the one before. It
// reports false, and does nothing, if it has not, or if the text is empty.
func (p *Parser) repeats(data []byte) bool {
	raw := p.again.text(&p.cursor, data)
	if len(raw) <= len(`""`) {
		return false
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	p.event = p.again.event
	p.event.Text = p.text
	p.content.Repeated(&p.event)
	p.Send()
	return true
}
