package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// images are the images of a choice. The format has no member for them; clients know the one
// of OpenRouter and others.
type images struct {
	list  []byte // of a JSON answer, with commas between
	count int
}

// image writes an image.
func (m *Emitter) image(c *choice, e *event.Event) {
	number := int64(c.images.count)
	c.images.count++
	if !m.Context.Stream {
		if number > 0 {
			c.images.list = append(c.images.list, ',')
		}
		c.images.list = appendImage(c.images.list, e.Media, number)
		return
	}
	m.open(e.Choice)
	m.Written = append(appendImage(append(m.Written, `"images":[`...), e.Media, number), ']')
	m.close("")
}

func appendImage(dst []byte, image *event.Media, number int64) []byte {
	dst = append(jsonscan.AppendCount(dst, `{"index":`, number), `,"type":"image_url","image_url":{"url":`...)
	if image.URL != nil {
		return append(jsonscan.AppendString(dst, image.URL), "}}"...)
	}
	return append(media.AppendURL(append(dst, '"'), image.Type, image.Data), `"}}`...)
}

// append appends the member with the images, and a comma before it, unless there are none.
func (i *images) append(dst []byte) []byte {
	if i.count == 0 {
		return dst
	}
	return append(append(append(dst, `,"images":[`...), i.list...), ']')
}
