package pairs

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// template is how a conversation is written as one prompt (wire format B.7).
type template struct {
	system, note, user, assistant string // begin a turn, escaped; note is a system turn that is not the first

	end    string // ends a turn, escaped
	answer string // begins the answer where the assistant has not begun it yet, escaped

	stop  string // begins what the provider may not go on with
	space bool   // the answer begins with a space

	controls []string // what no text may hold, since it would forge a turn
	labels   []string // what a line of a guarded text may not begin with
}

// templates are the templates by their names in the configuration. There is
// none for TemplateNone.
var templates = map[translate.PromptTemplate]*template{
	translate.TemplateTurns: {
		note: "System: ", user: "Human: ", assistant: "Assistant: ",
		end: blankLine, answer: "Assistant:", stop: "\n\nHuman:", space: true,
		labels: []string{"Human:", "Assistant:", "System:"},
	},
	translate.TemplateChatML: {
		system: `<|im_start|>system\n`, note: `<|im_start|>system\n`,
		user: `<|im_start|>user\n`, assistant: `<|im_start|>assistant\n`,
		end: `<|im_end|>\n`, answer: `<|im_start|>assistant\n`, stop: "<|im_end|>",
		controls: []string{"<|im_start|>", "<|im_end|>"},
	},
}

// forges returns what in an escaped text would make turns of its own, "" for
// nothing. Labels count only for those who ask for a guard: such lines are
// common prose.
func (t *template) forges(text []byte, guard bool) string {
	if guard = guard && len(t.labels) > 0; !guard && len(t.controls) == 0 {
		return ""
	}
	if guard && isEscaped(text) || bytes.Contains(text, []byte(`\u`)) {
		text = unescaped(text)
	}
	for _, control := range t.controls {
		if bytes.Contains(text, []byte(control)) {
			return control
		}
	}
	if !guard {
		return ""
	}
	for _, label := range t.labels {
		if beginsLine(text, []byte(label)) {
			return label
		}
	}
	return ""
}

// beginsLine reports whether a line of a text begins with a word.
func beginsLine(text, word []byte) bool {
	for at := 0; ; at++ {
		next := bytes.Index(text[at:], word)
		if next < 0 {
			return false
		}
		if at += next; at == 0 || text[at-1] == '\n' || text[at-1] == '\r' {
			return true
		}
	}
}

// unescaped decodes a text that is escaped as in JSON, without quotes.
func unescaped(text []byte) []byte {
	quoted := append(append(append(make([]byte, 0, len(text)+len(`""`)), '"'), text...), '"')
	return jsonscan.AppendText(nil, quoted)
}

// prompt gathers a conversation as one prompt, escaped. Texts are never decoded.
type prompt struct {
	*template
	system  content
	hoisted content // later system turns that join the first
	turns   []byte
	prefill bool // the last turn is the beginning of the answer
}

func (p *prompt) reset(t *template) {
	p.template = t
	p.system.reset(blankLine)
	p.hoisted.reset(blankLine)
	p.turns, p.prefill = p.turns[:0], false
}

// add adds a turn of a role, whose beginning is given; a text that is empty is
// no turn.
func (p *prompt) add(begin string, text *content) {
	if text.empty() {
		return
	}
	p.turns = append(p.turns, begin...)
	p.turns = append(p.turns, text.buf...)
	p.turns = append(p.turns, p.end...)
	p.prefill = begin == p.assistant
}

func (p *prompt) empty() bool {
	return p.system.empty() && p.hoisted.empty() && len(p.turns) == 0
}

// size is how much memory the prompt keeps, in bytes.
func (p *prompt) size() int { return cap(p.system.buf) + cap(p.hoisted.buf) + cap(p.turns) }

// appendTo appends the prompt up to where the answer begins.
func (p *prompt) appendTo(dst []byte) []byte {
	if p.system.join(&p.hoisted); !p.system.empty() {
		dst = append(dst, p.template.system...)
		dst = append(dst, p.system.buf...)
		dst = append(dst, p.end...)
	}
	if p.prefill {
		return append(dst, p.turns[:len(p.turns)-len(p.end)]...)
	}
	dst = append(dst, p.turns...)
	return append(dst, p.answer...)
}
