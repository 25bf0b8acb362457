package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// maxItems is how many items one request may hold.
const maxItems = 100_000

// checkInput reads the conversation: a text of the user, or items.
func checkInput(p *strict.Pass, objects *strict.Table) {
	if _, ok := p.JSON.RawString(); ok {
		return
	}
	if p.JSON.Kind() != jsonscan.Array {
		p.Refuse("must be a string or an array of items" + p.Got())
		return
	}
	checkItems(p, objects, "input")
}

// checkItems reads the items of a field. Items are cut that no provider of the format could read:
// reasoning of a provider of another format, which this gateway sealed.
func checkItems(p *strict.Pass, objects *strict.Table, field string) {
	cuts := strict.Cutter{Spans: &p.View.SelfSigned}
	n := p.Elements("", func(i int) {
		p.Item(i)
		p.Notes &^= sealed
		start := p.JSON.Offset()
		var m strict.Members
		if p.Message(&m, objects) && m.Type() == "item_reference" {
			position, kind := m.Find("id")
			p.Part(position + 1)
			p.WantKind("id", kind, jsonscan.String)
			needsUnowned(p, field+"["+strconv.Itoa(i)+"].type")
		}
		cuts.Element(translate.Span{Start: start, End: p.JSON.Offset()}, m.Type() == "reasoning" && p.Notes&sealed != 0)
	})
	if cuts.All() {
		cuts.CutAll()
	}
	switch {
	case n == 0:
		p.Notes |= noItems
	case n > maxItems:
		p.Notes |= manyItems
	}
}

// checkSealed notes reasoning that this gateway sealed.
func checkSealed(p *strict.Pass, _ *strict.Table) {
	if bytes.HasPrefix(p.JSON.StringOrSkip(), []byte(`"`+seal.Block)) {
		p.Notes |= sealed
	}
}
