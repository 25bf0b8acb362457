package texts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// Request are the texts of a request.
type Request struct {
	Texts []Text
	// Reference is the path of the first field that refers to what a provider keeps, such as
	// an earlier answer or a file, or that is an array of tokens: its texts are unknown. ""
	// for none.
	Reference string
}

// OfRequest returns the texts of a body that has passed the strict pass of its format. The texts
// of a group follow each other, in the order of the body. view is the result of the pass.
func OfRequest(body []byte, view *translate.View, requests *format.Requests) Request {
	if passthrough.IsForm(body) {
		return ofForm(body)
	}
	l := listener{body: body, reference: cmp.Or(view.Beyond.State, tokens(body)), own: ownNames(requests), names: make(map[string]bool)}
	if requests.Source != nil {
		core.Listen(body, requests.Source, &l)
	}
	if requests.Encrypted != nil {
		for _, span := range requests.Encrypted(body) {
			l.regions = append(l.regions, region{Text: Text{slot: jsonscan.Slot{Start: span.Start, End: span.End}, form: signed}, wide: true})
		}
	}
	l.hide(jsonscan.Slot{Start: view.ModelSpan.Start, End: view.ModelSpan.End})
	list := inventoryOf(body)
	l.addNames(list.names)
	l.addData(list.results, Result)
	l.addData(list.data, Other)
	return Request{l.texts(), l.reference}
}

// tokens returns the name of a field that has numbers of tokens in the place of a text; "" for
// none.
func tokens(body []byte) (field string) {
	c := jsonscan.Again(body)
	for c.OpenObject(); c.Member(); {
		switch name := string(c.Name()); name {
		case "prompt", "input":
			if hasNumber(&c) {
				field = name
			}
		default:
			c.Skip()
		}
	}
	return field
}

// hasNumber consumes a value, and reports whether it is a number or an array with one, in
// whatever depth.
func hasNumber(c *jsonscan.Cursor) bool {
	if !c.EnterArray() {
		number := c.Kind() == jsonscan.Number
		c.Skip()
		return number
	}
	digit := false
	for c.Element() {
		digit = hasNumber(c) || digit
	}
	return digit
}

// ofForm returns the texts of a form.
func ofForm(body []byte) (r Request) {
	for text := range passthrough.Texts(body) {
		r.Texts = append(r.Texts, Text{Group: len(r.Texts), Text: text})
	}
	return r
}

// region is a part of a body that the reader has recognised.
type region struct {
	Text
	hidden bool // it contains no text
	wide   bool // it contains strings, each of which is a text
	weak   bool // the reader has not recognised it, but perhaps a part of it
}

// listener is the writer that gets the parts of a request. It keeps where they are.
type listener struct {
	core.Discard
	body      []byte
	regions   []region
	reference string
	x         *core.Translation
	own       map[string]bool // the names of members that the format has
	names     map[string]bool // the others, each once

	role   core.Role
	result bool // a result of a tool is open
	group  int
}

// Begin implements core.Writer.
func (l *listener) Begin(x *core.Translation, _ int) { l.x = x }

// kinds are the kinds of the texts of turns.
var kinds = [...]Kind{core.Instructions: System, core.System: System, core.User: User, core.Assistant: Assistant}

// add adds the region of a raw value.
func (l *listener) add(raw []byte, r region) {
	if slot, ok := jsonscan.SlotOf(l.body, raw); ok {
		r.slot = slot
		l.regions = append(l.regions, r)
	}
}

// addUnquoted is add for a string without its quotes.
func (l *listener) addUnquoted(text []byte, r region) {
	if slot, ok := jsonscan.SlotOf(l.body, text); ok && slot.Start > 0 && slot.End < len(l.body) {
		r.slot = jsonscan.Slot{Start: slot.Start - 1, End: slot.End + 1}
		l.regions = append(l.regions, r)
	}
}

// hide adds a region without a text.
func (l *listener) hide(slot jsonscan.Slot) {
	if slot.End > 0 {
		l.regions = append(l.regions, region{Text: Text{slot: slot}, hidden: true})
	}
}

// Turn implements core.Writer. Turns of one role that follow each other are one to the model.
func (l *listener) Turn(role core.Role) {
	if role != l.role {
		l.group++
	}
	l.role = role
}

// ofTurn returns the region of a text of the turn.
func (l *listener) ofTurn(textForm form) region {
	kind := kinds[l.role]
	if l.result {
		kind = Result
	}
	return region{Text: Text{Kind: kind, Group: l.group, form: textForm}}
}

// Text implements core.Writer.
func (l *listener) Text(text []byte) { l.addUnquoted(text, l.ofTurn(plain)) }

// Refusal implements core.Writer.
func (l *listener) Refusal(text []byte) { l.addUnquoted(text, l.ofTurn(plain)) }

// Image implements core.Writer.
func (l *listener) Image(m *core.Media) { l.media(m) }

// Recording implements core.Writer.
func (l *listener) Recording(m *core.Media) { l.media(m) }

// Document implements core.Writer.
func (l *listener) Document(m *core.Media) { l.media(m) }

// OpenDocument implements core.Writer.
func (l *listener) OpenDocument(m *core.Media) { l.media(m) }

// media adds the texts around a file, and the file itself if it is a text.
func (l *listener) media(m *core.Media) {
	l.addUnquoted(m.Title, l.ofTurn(plain))
	l.addUnquoted(m.Context, l.ofTurn(plain))
	hidden := region{hidden: true}
	if m.Kind == core.PlainText {
		hidden = l.ofTurn(plain)
	}
	l.addUnquoted(m.Data, hidden)
}

// OpenSearchResult implements core.Writer.
func (l *listener) OpenSearchResult(title, source []byte) {
	l.addUnquoted(title, l.ofTurn(plain))
	l.addUnquoted(source, l.ofTurn(plain))
}

// Reasoning implements core.Writer. Reasoning without a signature is a text like any other.
func (l *listener) Reasoning(r *core.Thought) {
	textForm := signed
	if r.Origin == core.Unsigned {
		textForm = plain
	}
	l.addUnquoted(r.Text, l.ofTurn(textForm))
	l.addUnquoted(r.Signature, region{hidden: true})
	l.addUnquoted(r.Sealed, region{hidden: true})
}

// Call implements core.Writer.
func (l *listener) Call(c *core.Call) {
	l.group++
	r := region{Text: Text{Kind: Call, Name: string(jsonscan.AppendUnescaped(nil, c.Name)), Group: l.group, form: object}}
	l.add(c.Input, r)
	r.form = encoded
	if c.Free {
		r.form = plain
	}
	l.addUnquoted(c.Text, r)
	if len(c.Input)+len(c.Text) == 0 {
		r.form = literal
		l.regions = append(l.regions, r)
	}
	l.addUnquoted(c.Signature, region{hidden: true})
	l.group++
}

// OpenResult implements core.Writer.
func (l *listener) OpenResult(*core.Result) { l.result, l.group = true, l.group+1 }

// CloseResult implements core.Writer.
func (l *listener) CloseResult(bool) { l.result, l.group = false, l.group+1 }

// Tool implements core.Writer.
func (l *listener) Tool(t *core.Tool) {
	l.group++
	r := region{Text: Text{Kind: Tool, Name: jsonscan.TextOf(t.Name), Group: l.group}}
	l.regions = append(l.regions, r) // a tool counts without a description, too
	r.form = plain
	l.add(t.Description, r)
	l.add(t.Definition, r)
	r.form = object
	l.add(t.Schema, r)
	l.group++
}

// Saw implements core.Witness.
func (l *listener) Saw(c core.Concept, row *core.Row, raw []byte) {
	switch c {
	case core.VendorTool:
		name := jsonscan.TextOf(raw)
		if name == "" {
			name = row.Name[strings.LastIndexByte(row.Name, '.')+1:]
		}
		l.group++
		l.regions = append(l.regions, region{Text: Text{Kind: Tool, Name: name, Group: l.group}})
	case core.ImageReference, core.FileReference, core.ItemReference:
		l.reference = cmp.Or(l.reference, l.x.PathOf(c))
	}
}

// addData adds objects with names of the client.
func (l *listener) addData(objects [][]byte, kind Kind) {
	for _, raw := range objects {
		l.group++
		l.add(raw, region{Text: Text{Kind: kind, Group: l.group, form: object}, weak: true})
	}
}

// addNames adds the tools and calls that the reader has not recognised, in order.
func (l *listener) addNames(unnamed names) {
	for i := range l.regions {
		delete(unnamed, named{l.regions[i].Kind, l.regions[i].Name})
	}
	for _, t := range unnamed.sorted() {
		l.group++
		l.regions = append(l.regions, region{Text: Text{Kind: t.kind, Name: t.name, Group: l.group}})
	}
}

// texts returns the texts of the regions, and every other string of the body.
func (l *listener) texts() []Text {
	slices.SortStableFunc(l.regions, func(a, b region) int {
		return cmp.Or(cmp.Compare(a.slot.Start, b.slot.Start), cmp.Compare(b.slot.End, a.slot.End))
	})
	var texts []Text
	rest := l.regions
	for ; len(rest) > 0 && rest[0].slot.End == 0; rest = rest[1:] { // they have a name only
		texts = append(texts, rest[0].Text)
	}
	var outer region // of the strings up to its end
	enter := func(start int) {
		for ; len(rest) > 0 && rest[0].slot.Start <= start; rest = rest[1:] {
			next, more := rest[0], rest[1:]
			if next.slot.Start < outer.slot.End || next.weak && len(more) > 0 && more[0].slot.Start < next.slot.End {
				continue
			}
			outer = next
			if !next.hidden && !next.wide {
				texts = append(texts, l.read(next.Text))
			}
		}
	}
	for isName, slot := range jsonscan.Leaves(l.body, jsonscan.Slot{End: len(l.body)}) {
		enter(slot.Start)
		isInside, raw := slot.Start < outer.slot.End, l.body[slot.Start:slot.End]
		switch {
		case isInside && !outer.wide:
			continue
		case isName && !l.isNews(raw):
			continue
		}
		l.group++
		t := Text{Group: l.group, slot: slot, form: plain}
		switch {
		case isInside:
			t.form = outer.form
		case isName:
			t.form = fixed
		}
		if isName || isText(raw, &t) {
			texts = append(texts, l.read(t))
		}
	}
	enter(len(l.body)) // regions without a string
	slices.SortStableFunc(texts, func(a, b Text) int { return cmp.Compare(a.Group, b.Group) })
	return texts
}

// read returns a text with its words.
func (l *listener) read(t Text) Text {
	t.Text = t.read(l.body[t.slot.Start:t.slot.End])
	return t
}
