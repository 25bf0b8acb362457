package request

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FillIn writes the prompt and the suffix of a request as one prompt by the template of
// the model, for providers that accept no suffix (wire format B.8). It returns edits of
// the body, which has passed Inspect: none if the provider has no template, or if the
// request has no suffix. It refuses requests that the template cannot express.
func FillIn(body []byte, info *core.RequestInfo) ([]edit.Edit, *fault.Fault) {
	if info.Traits == nil || info.Traits.FIMTemplate == "" {
		return nil, nil
	}
	f := filling{info: info}
	prompt := f.read(body)
	if !jsonscan.IsString(f.suffix) {
		return nil, nil
	}
	start, end := jsonscan.CutMember(body, "suffix")
	edits := []edit.Edit{{Span: translate.Span{Start: start, End: end}}}
	if len(jsonscan.Inner(f.suffix)) > 0 {
		edits = append(edits, edit.Edit{Span: prompt, With: f.write()})
	}
	return edits, f.fault
}

// filling contains the members of a request that the template depends on.
type filling struct {
	info           *core.RequestInfo
	prompt, suffix []byte // raw
	echo           bool
	fault          *fault.Fault // the first
}

// read reads the members, and returns the position of the prompt.
func (f *filling) read(body []byte) (prompt translate.Span) {
	c := jsonscan.Again(body)
	c.EnterObject()
	for c.Member() {
		start := c.Offset()
		switch name, value := string(c.Name()), c.Skip(); name {
		case "prompt":
			f.prompt, prompt = value, translate.Span{Start: start, End: c.Offset()}
		case "suffix":
			f.suffix = value
		case "echo":
			f.echo = jsonscan.IsTrue(value)
		}
	}
	return prompt
}

// write returns the prompt as a raw string.
func (f *filling) write() []byte {
	if f.echo {
		f.fail(f.info.Refuse(translate.Completions, "echo", "")) // the template would be echoed
	}
	prompt := f.text()
	f.guard("prompt", prompt)
	f.guard("suffix", f.suffix)
	rest := f.info.Traits.FIMTemplate
	dst := []byte{'"'}
	for rest != "" {
		literal, name, tail := cutPlaceholder(rest)
		dst = jsonscan.AppendEscaped(dst, literal)
		switch name {
		case "{prefix}":
			dst = append(dst, jsonscan.Inner(prompt)...)
		case "{suffix}":
			dst = append(dst, jsonscan.Inner(f.suffix)...)
		}
		rest = tail
	}
	return append(dst, '"')
}

func (f *filling) fail(fault *fault.Fault) {
	if f.fault == nil {
		f.fault = fault
	}
}

// cutPlaceholder cuts a template behind its first placeholder.
func cutPlaceholder(template string) (literal, name, tail string) {
	end := len(template)
	for _, placeholder := range [...]string{"{prefix}", "{suffix}"} {
		if i := strings.Index(template, placeholder); i >= 0 && i < end {
			end, name = i, placeholder
		}
	}
	return template[:end], name, template[end+len(name):]
}

// text returns the raw text of a prompt that is one text, and refuses any other prompt.
func (f *filling) text() []byte {
	raw := f.prompt
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

// guard refuses a text that contains a part of the template: the part would end, or
// begin, what is to be filled.
func (f *filling) guard(member string, raw []byte) {
	text := jsonscan.TextOf(raw)
	for rest := f.info.Traits.FIMTemplate; rest != ""; {
		literal, _, tail := cutPlaceholder(rest)
		rest = tail
		if literal = strings.TrimSpace(literal); literal != "" && strings.Contains(text, literal) {
			fault := f.info.RefuseControl(member, literal)
			fault.Log.Trait = "fim_template"
			f.fail(fault)
		}
	}
}
