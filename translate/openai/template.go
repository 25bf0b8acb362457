package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// template is the shape of a chunk that became one event with a text. Most chunks of a
// stream differ from the one before only in that text, and in the padding that some
// servers add. A chunk of the same shape becomes the same event with another text.
type template struct {
	data  jsonscan.Template
	event event.Event   // without its text
	slot  jsonscan.Slot // of the text that was sent last
	pad   jsonscan.Slot
}

func (t *template) forget() {
	t.data.Forget()
	t.slot, t.pad = jsonscan.Slot{}, jsonscan.Slot{}
}

// learn keeps the shape of a chunk that became only this event.
func (t *template) learn(data []byte, e *event.Event) {
	if t.slot == (jsonscan.Slot{}) || e.Text == nil {
		return
	}
	t.data.Learn(data, [jsonscan.MaxHoles]jsonscan.Slot{t.slot, t.pad})
	t.event = *e
	t.event.Text = nil
}

// repeats sends the event of a chunk that has the shape of the one before. It reports
// false, and does nothing, if the shape is another, or if the text is empty.
func (p *Parser) repeats(data []byte) bool {
	values, ok := p.template.data.Match(data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	p.text = jsonscan.AppendText(p.text[:0], values[0])
	p.event = p.template.event
	p.event.Text = p.text
	p.content.Repeated(&p.event)
	p.Send()
	return true
}
