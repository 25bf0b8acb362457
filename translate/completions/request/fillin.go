package request

import (
	"bytes"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FillIn writes the prompt and the suffix of a request as the one prompt that a
// model knows them in, for providers that take no suffix (wire format B.8): as
// edits of the body, which has passed Inspect. There are none where the provider
// has no template, or the request no suffix. What the template cannot hold is
// refused.
func FillIn(body []byte, info *core.RequestInfo) ([]edit.Edit, *fault.Fault) {
	if info.Traits == nil || info.Traits.FIMTemplate == "" {
		return nil, nil
	}
	f := filling{info: info, body: body}
	f.read()
	if !jsonscan.IsString(f.of(f.suffix)) {
		return nil, nil
	}
	edits := []edit.Edit{{Span: f.member}}
	if len(jsonscan.Inner(f.of(f.suffix))) > 0 {
		edits = append(edits, edit.Edit{Span: f.prompt, With: f.write()})
	}
	return edits, f.fault
}

// filling finds the members that matter.
type filling struct {
	info           *core.RequestInfo
	body           []byte
	prompt, suffix translate.Span // values
	member         translate.Span // the suffix and what must go with it
	echo           bool
	fault          *fault.Fault // the first
}

func (f *filling) of(s translate.Span) []byte { return f.body[s.Start:s.End] }

func (f *filling) read() {
	c := jsonscan.Again(f.body)
	c.EnterObject()
	first, before := true, c.Offset()
	for c.Member() {
		at := translate.Span{Start: c.Offset()}
		name := string(c.Name())
		value := c.Skip()
		at.End = c.Offset()
		switch name {
		case "prompt":
			f.prompt = at
		case "suffix":
			f.suffix, f.member = at, f.around(before, at.End, first)
		case "echo":
			f.echo = jsonscan.IsTrue(value)
		}
		first, before = false, at.End
	}
}

// around returns a member with one comma: that before it, or, if it is the first,
// that behind it.
func (f *filling) around(start, end int, first bool) translate.Span {
	rest := bytes.TrimLeft(f.body[end:], " \t\r\n")
	if first && len(rest) > 0 && rest[0] == ',' {
		end = len(f.body) - len(rest) + len(",")
	}
	return translate.Span{Start: start, End: end}
}

// write returns the prompt as a raw string.
func (f *filling) write() []byte {
	if f.echo {
		f.fail(f.info.Refuse(translate.Completions, "echo", "")) // the template would be echoed
	}
	prompt, suffix := f.text(), f.of(f.suffix)
	f.guard("prompt", prompt)
	f.guard("suffix", suffix)
	rest := f.info.Traits.FIMTemplate
	out := []byte{'"'}
	for rest != "" {
		literal, name, behind := cutPlaceholder(rest)
		out = jsonscan.AppendEscaped(out, literal)
		switch name {
		case "{prefix}":
			out = append(out, jsonscan.Inner(prompt)...)
		case "{suffix}":
			out = append(out, jsonscan.Inner(suffix)...)
		}
		rest = behind
	}
	return append(out, '"')
}

func (f *filling) fail(fault *fault.Fault) {
	if f.fault == nil {
		f.fault = fault
	}
}

// cutPlaceholder cuts a template behind its first placeholder.
func cutPlaceholder(template string) (literal, name, behind string) {
	at := len(template)
	for _, placeholder := range [...]string{"{prefix}", "{suffix}"} {
		if i := strings.Index(template, placeholder); i >= 0 && i < at {
			at, name = i, placeholder
		}
	}
	return template[:at], name, template[at+len(name):]
}

// text returns the one text that the prompt is, raw.
func (f *filling) text() []byte {
	raw := f.of(f.prompt)
	if jsonscan.IsString(raw) {
		return raw
	}
	n := 0
	c := jsonscan.Again(raw)
	for c.EnterArray(); c.Element(); n++ {
		raw = c.Skip()
	}
	if n != 1 || !jsonscan.IsString(raw) { // tokens, or several texts
		f.fail(f.info.Refuse(translate.Completions, "prompt", ""))
		return nil
	}
	return raw
}

// guard refuses a text that holds a part of the template: it would end, or begin,
// what is to be filled.
func (f *filling) guard(member string, raw []byte) {
	text := jsonscan.TextOf(raw)
	for rest := f.info.Traits.FIMTemplate; rest != ""; {
		literal, _, behind := cutPlaceholder(rest)
		rest = behind
		if literal = strings.TrimSpace(literal); literal != "" && strings.Contains(text, literal) {
			fault := f.info.RefuseControl(member, literal)
			fault.Trait = "fim_template"
			f.fail(fault)
		}
	}
}
