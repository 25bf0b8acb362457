package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// annotate keeps a source of the text. A stream tells them all together at its
// end: accumulators of official SDKs cannot add up lists without indexes.
func (c *saying) annotate(s *event.Citation) {
	out := append(c.annotations, `,{"type":"url_citation","url_citation":{"url":`...)
	out = jsonscan.AppendString(out, s.URL)
	out = append(out, `,"title":`...)
	out = jsonscan.AppendString(out, s.Title)
	out = append(out, `,"start_index":`...)
	out = strconv.AppendInt(out, int64(s.Start+c.inserted), 10)
	out = append(out, `,"end_index":`...)
	out = strconv.AppendInt(out, int64(s.End+c.inserted), 10)
	c.annotations = append(out, "}}"...)
}

// appendAnnotations appends the member that holds them; there are some.
func (c *saying) appendAnnotations(dst []byte) []byte {
	dst = append(dst, `"annotations":[`...)
	dst = append(dst, c.annotations[1:]...)
	return append(dst, ']')
}
