package core

import (
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Measure returns the size of a request in the source's format. The body has passed
// the strict pass of the format; of any other body, Measure counts the part in front
// of the first error.
func Measure(body []byte, source *Source) token.Size {
	m := measures.Get().(*measure)
	m.size = token.Size{}
	Listen(body, source, m)
	size := m.size
	measures.Put(m)
	return size
}

var measures = sync.Pool{New: func() any { return new(measure) }}

// measure is a Writer that adds up the sizes of the parts of a request.
type measure struct {
	Discard
	size token.Size
}

// add adds escaped texts.
func (m *measure) add(texts ...[]byte) {
	for _, text := range texts {
		m.size.Bytes += int64(jsonscan.InnerLen(text))
	}
}

func (m *measure) Text(text []byte)                      { m.add(text) }
func (m *measure) Refusal(text []byte)                   { m.add(text) }
func (m *measure) Reasoning(r *Thought)                  { m.add(r.Text) }
func (m *measure) Image(*Media)                          { m.size.Images++ }
func (m *measure) Recording(*Media)                      { m.size.Documents++ }
func (m *measure) OpenDocument(d *Media)                 { m.add(d.Title, d.Context) }
func (m *measure) OpenSearchResult(title, source []byte) { m.add(title, source) }

func (m *measure) Document(d *Media) {
	m.add(d.Title, d.Context)
	switch d.Kind {
	case Inline:
		m.size.Documents++
	case PlainText:
		m.add(d.Data)
	}
}

func (m *measure) Call(c *Call) {
	m.add(c.Name, c.Text)
	m.size.Bytes += int64(len(c.Input))
}

func (m *measure) Tool(t *Tool) {
	m.add(jsonscan.Inner(t.Name), jsonscan.Inner(t.Description))
	m.add(jsonscan.Inner(t.Definition))
	m.size.Bytes += int64(len(t.Schema))
}
