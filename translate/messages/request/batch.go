package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// Batch is the strict pass over the body of a request that creates a batch. Each gets the place of
// the parameters of a request, an object, and returns why it is refused; nil to go on.
func Batch(body []byte, each func(params translate.Span) *fault.Fault) (file translate.ObjectID, refused *fault.Fault) {
	requests := func(p *strict.Pass, _ *strict.Table) {
		n := p.Elements("must be an array of objects", func(i int) {
			p.Item(i)
			params := readBatched(p)
			if refused != nil || params.Empty() {
				return
			}
			if f := each(params); f != nil {
				refused = f.InBatch("requests." + strconv.Itoa(i) + ".params")
			}
		})
		if n == 0 {
			p.Note("must hold at least one request")
		}
	}
	if _, broken := strict.Read(body, strict.Dots, strict.Fields{{Name: "requests", Check: requests, Must: true}}).End(); broken != nil {
		return file, broken
	}
	return file, refused
}

// readBatched returns the place of the parameters of a request of a batch, an empty one if it has
// none.
func readBatched(p *strict.Pass) (params translate.Span) {
	if p.JSON.Kind() != jsonscan.Object {
		p.Refuse("must be an object")
		return params
	}
	for p.JSON.OpenObject(); p.Member(); {
		start := p.JSON.Offset()
		switch name := p.JSON.Name(); {
		case string(name) == "params" && p.JSON.Kind() == jsonscan.Object:
			params = translate.Span{Start: start, End: start + len(p.JSON.Skip())}
		case string(name) == "params":
			p.NoteMember("params", "must be an object"+p.Got())
			p.JSON.Skip()
		case bytes.EqualFold(name, []byte("params")):
			p.NoteMember("params", "must be written in lower case")
			p.JSON.Skip()
		default:
			p.JSON.Skip()
		}
	}
	if params.Empty() {
		p.NoteMember("params", strict.Required)
	}
	return params
}
