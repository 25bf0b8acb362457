package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// template describes the prompt of a conversation (wire format B.7).
type template struct {
	system, note, user, assistant string // begin a turn, escaped; note is a system turn that is not the first

	end    string // ends a turn, escaped
	answer string // begins the answer unless the last turn is the beginning of it, escaped

	stop  string // begins a turn that the provider must not write
	space bool   // the answer begins with a space

	controls []string // texts that would forge a turn
	labels   []string // texts that would forge a turn at the beginning of a line
}

// templates are the templates by their names in the configuration, without TemplateNone.
var templates = map[trait.PromptTemplate]template{
	trait.TemplateTurns: {
		note: "System: ", user: "Human: ", assistant: "Assistant: ",
		end: blankLine, answer: "Assistant:", stop: "\n\nHuman:", space: true,
		labels: []string{"Human:", "Assistant:", "System:"},
	},
	trait.TemplateChatML: {
		system: `<|im_start|>system\n`, note: `<|im_start|>system\n`,
		user: `<|im_start|>user\n`, assistant: `<|im_start|>assistant\n`,
		end: `<|im_end|>\n`, answer: `<|im_start|>assistant\n`, stop: "<|im_end|>",
		controls: []string{"<|im_start|>", "<|im_end|>"},
	},
}

// forged returns the first sign of a turn in an escaped text, "" for none: a control
// anywhere, or a label at the beginning of a line. The characters of the signs must not be
// escaped.
func forged(text []byte, controls, labels []string) string {
	for _, control := range controls {
		if bytes.Contains(text, []byte(control)) {
			return control
		}
	}
	for _, label := range labels {
		if beginsLine(text, []byte(label)) {
			return label
		}
	}
	return ""
}

// beginsLine reports whether a line of an escaped text begins with a word.
func beginsLine(text, word []byte) bool {
	for i := 0; ; i++ {
		next := bytes.Index(text[i:], word)
		if next < 0 {
			return false
		}
		if i += next; i == 0 || endsLine(text[:i]) {
			return true
		}
	}
}

// endsLine reports whether an escaped text ends with a line break, and not with an escaped
// backslash and a letter.
func endsLine(text []byte) bool {
	head, ok := bytes.CutSuffix(text, []byte(`\n`))
	if !ok {
		head, ok = bytes.CutSuffix(text, []byte(`\r`))
	}
	backslashes := len(head) - len(bytes.TrimRight(head, `\`))
	return ok && backslashes%2 == 0
}
