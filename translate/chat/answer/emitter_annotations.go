package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// sources are the sources of the text of a choice. A stream contains all of them together at
// its end: accumulators of official SDKs cannot join lists without indexes.
type sources struct {
	list     []byte // annotations, each with a comma before it
	inserted int    // characters inserted between the texts of the provider
}

// add adds a source.
func (s *sources) add(source *event.Citation) {
	out := append(s.list, `,{"type":"url_citation","url_citation":{"url":`...)
	out = jsonscan.AppendString(out, source.URL)
	out = append(out, `,"title":`...)
	out = jsonscan.AppendString(out, source.Title)
	out = jsonscan.AppendCount(out, `,"start_index":`, int64(source.Start+s.inserted))
	out = jsonscan.AppendCount(out, `,"end_index":`, int64(source.End+s.inserted))
	s.list = append(out, "}}"...)
}

// append appends the member with the annotations, of which there is at least one.
func (s *sources) append(dst []byte) []byte {
	dst = append(dst, `"annotations":[`...)
	dst = append(dst, s.list[1:]...)
	return append(dst, ']')
}
