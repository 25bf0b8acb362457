package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The fields of a request for an embedding, and of several such requests in one. Only those that the
// gateway needs are checked; the others are the provider's.
var (
	embeddingFields  = strict.Fields{{Name: "model", Check: checkModelOf}, {Name: "content", Check: checkContent, Must: true}}
	embeddingsFields = strict.Fields{{Name: "requests", Check: checkRequests, Must: true}}
)

// inspectEmbeddings is the strict pass over a request for embeddings.
func inspectEmbeddings(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	fields := embeddingFields
	if op == translate.EmbedMany {
		fields = embeddingsFields
	}
	return strict.Read(body, strict.Brackets, fields).End()
}

// checkContent checks what is to be embedded.
func checkContent(p *strict.Pass, objects *strict.Table) {
	if p.JSON.Kind() != jsonscan.Object {
		p.Refuse("must be an object" + p.Got())
		return
	}
	checkFiles(p, objects)
}

// checkRequests checks the requests in a request. The key is checked for one model, so they name one.
func checkRequests(p *strict.Pass, objects *strict.Table) {
	n := p.Elements("must be an array of objects", func(int) {
		c := &p.JSON
		content := false
		for c.OpenObject(); c.Member(); {
			switch string(c.Name()) {
			case "model":
				name := jsonscan.TextOf(c.StringOrSkip())
				if p.View.Model != "" && ModelName(name) != ModelName(p.View.Model) {
					p.NoteMember("model", "must be that of the other requests")
				}
				p.View.Model = name
			case "content":
				content = c.Kind() == jsonscan.Object
				checkFiles(p, objects)
			default:
				c.Skip()
			}
		}
		if !content {
			p.NoteMember("content", "must be an object")
		}
	})
	if n == 0 {
		p.Note("must hold at least one request")
	}
}

// ModelNames returns the places of the name of the model in a valid request for embeddings.
func ModelNames(body []byte) (places []translate.Span) {
	c := jsonscan.Again(body)
	name := func() {
		start := c.Offset()
		places = append(places, translate.Span{Start: start, End: start + len(c.StringOrSkip())})
	}
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "model":
			name()
		case "requests":
			for c.OpenArray(); c.Element(); {
				for c.OpenObject(); c.Member(); {
					if string(c.Name()) == "model" {
						name()
					} else {
						c.Skip()
					}
				}
			}
		default:
			c.Skip()
		}
	}
	return places
}

// AppendEmbeddings appends a request for embeddings as a provider of OpenAI's endpoint gets it. It refuses
// contents that are no single text, and vectors of different lengths: that endpoint has neither.
func AppendEmbeddings(dst, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault) {
	w := embeddings{written: jsonscan.AppendString(append(dst, `{"model":`...), info.Upstream)}
	w.written = append(w.written, `,"input":[`...)
	c := jsonscan.Again(body)
	if requests := jsonscan.MemberOf(body, "requests"); requests != nil {
		c = jsonscan.Again(requests)
		for c.OpenArray(); c.Element(); {
			w.request(&c, "requests[*].")
		}
	} else {
		w.request(&c, "")
	}
	w.written = append(w.written, `],"encoding_format":"float"`...)
	if w.length != "" {
		w.written = append(append(w.written, `,"dimensions":`...), w.length...)
	}
	return append(w.written, '}'), core.Rendered{Losses: w.lost, Prompts: 1, Samples: 1}, w.refused
}

// embeddings is a request for embeddings that is being written.
type embeddings struct {
	written []byte
	n       int    // inputs
	length  string // of the vectors, a raw number; "" for that of the model
	lost    translate.Losses
	refused *fault.Fault // the first fault
}

func (w *embeddings) refuse(path, what string) {
	if w.refused == nil {
		w.refused = fault.InvalidField(path, what)
	}
}

// request writes the request for one embedding at the cursor. prefix is the beginning of the paths of its
// members.
func (w *embeddings) request(c *jsonscan.Cursor, prefix string) {
	var text []byte
	length := ""
	for c.OpenObject(); c.Member(); {
		switch name := string(c.Name()); name {
		case "model":
			c.Skip()
		case "content":
			text = onlyText(c)
		case "outputDimensionality", "output_dimensionality":
			if raw := c.Skip(); string(raw) != "null" {
				length = string(raw)
			}
		case "taskType", "task_type", "title":
			c.Skip()
			w.lost.Add(translate.Shaping, prefix+name)
		default:
			c.Skip()
			w.lost.AddNamed(translate.Hint, prefix, []byte(name))
		}
	}
	switch {
	case text == nil:
		w.refuse(prefix+"content", "must be one text for this model")
	case w.n > 0 && length != w.length:
		w.refuse(prefix+"outputDimensionality", "must be the same in all requests for this model")
	case w.n > 0:
		w.written = append(w.written, ',')
	}
	w.written, w.length = append(w.written, text...), length
	w.n++
}

// onlyText returns the text of the content at the cursor, raw; nil for one that is no single text.
func onlyText(c *jsonscan.Cursor) (text []byte) {
	n := 0
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "parts" {
			c.Skip()
			continue
		}
		for c.OpenArray(); c.Element(); {
			for c.OpenObject(); c.Member(); n++ {
				if string(c.Name()) == "text" && c.Kind() == jsonscan.String {
					text = c.StringOrSkip()
				} else {
					c.Skip()
					n++
				}
			}
		}
	}
	if n != 1 {
		return nil
	}
	return text
}
