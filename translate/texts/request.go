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
func OfRequest(body []byte, view *translate.View, as *format.Requests) Request {
	if passthrough.IsForm(body) {
		return ofForm(body)
	}
	l := listener{body: body, reference: cmp.Or(view.Beyond.State, tokens(body)), own: ownNames(as), names: make(map[string]bool)}
	if as.Source != nil {
		core.Listen(body, as.Source, &l)
	}
	if as.Encrypted != nil {
		for _, span := range as.Encrypted(body) {
			l.regions = append(l.regions, region{Text: Text{at: jsonscan.Slot{Start: span.Start, End: span.End}, form: signed}, wide: true})
		}
	}
	l.hide(jsonscan.Slot{Start: view.ModelSpan.Start, End: view.ModelSpan.End})
	found := inventoryOf(body)
	l.addNames(found.names)
	l.addData(found.results, Result)
	l.addData(found.data, Other)
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
	found := false
	for c.Element() {
		found = hasNumber(c) || found
	}
	return found
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
	if at, ok := jsonscan.SlotOf(l.body, raw); ok {
		r.at = at
		l.regions = append(l.regions, r)
	}
}

// inside is add for a string without its quotes.
func (l *listener) inside(text []byte, r region) {
	if at, ok := jsonscan.SlotOf(l.body, text); ok && at.Start > 0 && at.End < len(l.body) {
		r.at = jsonscan.Slot{Start: at.Start - 1, End: at.End + 1}
		l.regions = append(l.regions, r)
	}
}

// hide adds a region without a text.
func (l *listener) hide(at jsonscan.Slot) {
	if at.End > 0 {
		l.regions = append(l.regions, region{Text: Text{at: at}, hidden: true})
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
func (l *listener) ofTurn(as form) region {
	kind := kinds[l.role]
	if l.result {
		kind = Result
	}
	return region{Text: Text{Kind: kind, Group: l.group, form: as}}
}

// Text implements core.Writer.
func (l *listener) Text(text []byte) { l.inside(text, l.ofTurn(plain)) }

// Refusal implements core.Writer.
func (l *listener) Refusal(text []byte) { l.inside(text, l.ofTurn(plain)) }

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
	l.inside(m.Title, l.ofTurn(plain))
	l.inside(m.Context, l.ofTurn(plain))
	hidden := region{hidden: true}
	if m.Kind == core.PlainText {
		hidden = l.ofTurn(plain)
	}
	l.inside(m.Data, hidden)
}

// OpenSearchResult implements core.Writer.
func (l *listener) OpenSearchResult(title, source []byte) {
	l.inside(title, l.ofTurn(plain))
	l.inside(source, l.ofTurn(plain))
}

// Reasoning implements core.Writer. Reasoning without a signature is a text like any other.
func (l *listener) Reasoning(r *core.Thought) {
	as := signed
	if r.From == core.Unsigned {
		as = plain
	}
	l.inside(r.Text, l.ofTurn(as))
	l.inside(r.Signature, region{hidden: true})
	l.inside(r.Sealed, region{hidden: true})
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
	l.inside(c.Text, r)
	if len(c.Input)+len(c.Text) == 0 {
		r.form = literal
		l.regions = append(l.regions, r)
	}
	l.inside(c.Signature, region{hidden: true})
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
func (l *listener) addNames(found names) {
	for i := range l.regions {
		delete(found, named{l.regions[i].Kind, l.regions[i].Name})
	}
	for _, t := range found.sorted() {
		l.group++
		l.regions = append(l.regions, region{Text: Text{Kind: t.kind, Name: t.name, Group: l.group}})
	}
}

// texts returns the texts of the regions, and every other string of the body.
func (l *listener) texts() []Text {
	slices.SortStableFunc(l.regions, func(a, b region) int {
		return cmp.Or(cmp.Compare(a.at.Start, b.at.Start), cmp.Compare(b.at.End, a.at.End))
	})
	var found []Text
	rest := l.regions
	for ; len(rest) > 0 && rest[0].at.End == 0; rest = rest[1:] { // they have a name only
		found = append(found, rest[0].Text)
	}
	var around region // of the strings up to its end
	enter := func(start int) {
		for ; len(rest) > 0 && rest[0].at.Start <= start; rest = rest[1:] {
			next, more := rest[0], rest[1:]
			if next.at.Start < around.at.End || next.weak && len(more) > 0 && more[0].at.Start < next.at.End {
				continue
			}
			around = next
			if !next.hidden && !next.wide {
				found = append(found, l.read(next.Text))
			}
		}
	}
	for isName, at := range jsonscan.Leaves(l.body, jsonscan.Slot{End: len(l.body)}) {
		enter(at.Start)
		inside, raw := at.Start < around.at.End, l.body[at.Start:at.End]
		switch {
		case inside && !around.wide:
			continue
		case isName && !l.isNews(raw):
			continue
		}
		l.group++
		t := Text{Group: l.group, at: at, form: plain}
		switch {
		case inside:
			t.form = around.form
		case isName:
			t.form = fixed
		}
		if isName || isText(raw, &t) {
			found = append(found, l.read(t))
		}
	}
	enter(len(l.body)) // regions without a string
	slices.SortStableFunc(found, func(a, b Text) int { return cmp.Compare(a.Group, b.Group) })
	return found
}

// read returns a text with its words.
func (l *listener) read(t Text) Text {
	t.Text = t.read(l.body[t.at.Start:t.at.End])
	return t
}
