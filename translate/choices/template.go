package choices

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// template is the shape of a chunk that said nothing but one piece of text. Most
// chunks of a stream differ from the one before in that piece alone. When all
// bytes around it are the same, and it is one valid string again, they say the
// same of another text: there is nothing else to read.
type template struct {
	before, after []byte          // with the quotes of the string
	event         translate.Event // without its text
	slot          Slot            // of the text that was sent last
	known         bool
}

func (t *template) forget() { t.known, t.slot = false, Slot{} }

// learn keeps the shape of a chunk that gave only this event.
func (t *template) learn(data []byte, e *translate.Event) {
	if t.slot == (Slot{}) || e.Text == nil {
		return
	}
	t.before = append(t.before[:0], data[:t.slot.Start+1]...)
	t.after = append(t.after[:0], data[t.slot.End-1:]...)
	t.event = *e
	t.event.Text = nil
	t.known = true
}

// text returns the string of a chunk that has the shape, quotes included.
func (t *template) text(data []byte) []byte {
	from, to := len(t.before)-1, len(data)-len(t.after)+1
	if !t.known || to < from+len(`""`) || !bytes.HasPrefix(data, t.before) || !bytes.HasSuffix(data, t.after) {
		return nil
	}
	return data[from:to]
}

// repeats sends the event of a chunk that has the shape of the one before. It
// reports false, and does nothing, if it has not, or if the text is empty.
func (p *Parser) repeats(data []byte) bool {
	raw := p.again.text(data)
	if len(raw) <= len(`""`) {
		return false
	}
	p.cursor = jsonscan.New(raw)
	text, ok := p.cursor.Text()
	if !ok || p.cursor.Finish() != nil {
		return false
	}
	p.event = p.again.event
	p.event.Text = text
	p.Send()
	return true
}
