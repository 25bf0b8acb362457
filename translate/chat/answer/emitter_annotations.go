package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// annotate keeps a source of the text. A stream contains all sources together at its
// end: accumulators of official SDKs cannot join lists without indexes.
func (c *choice) annotate(s *event.Citation) {
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

// appendAnnotations appends the member with the annotations, of which there is at least one.
func (c *choice) appendAnnotations(dst []byte) []byte {
	dst = append(dst, `"annotations":[`...)
	dst = append(dst, c.annotations[1:]...)
	return append(dst, ']')
}
