package pairs

import (
	"strconv"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// completion is what the conversions of completions requests into
// conversations share.
type completion struct {
	conversion
	request completions.Request
	prompt  []byte // the prompt at hand, raw
	several int64  // how many answers the provider is asked for in one call
	topK    []byte // raw; a field of one of the formats only
}

// read reads the body and refuses what no conversation can say.
func (x *completion) read(body []byte) {
	x.malformed(completions.Read(body, &x.request, x.other))
	if x.fault != nil {
		return
	}
	x.readPrompt()
	x.readSamples()
	x.refuseBelowOne("max_tokens", x.request.MaxTokens) // 0 asks for the prompt alone
	x.refuseBelowOne("n", x.request.N)
	if len(inner(x.request.Suffix)) > 0 && !x.traits.InstructSuffix {
		x.refuseBy(&suffixInWords, "suffix", "")
	}
	x.readStream(x.request.Stream, x.request.StreamOptions)
}

// refuseBelowOne refuses a number that servers of completions understand in ways
// of their own, as for no bound, and no other format has a meaning for.
func (x *completion) refuseBelowOne(name string, raw []byte) {
	if n, ok := integer(raw); ok && n < 1 || raw != nil && raw[0] == '-' {
		x.refuse(name, shownNumber(raw))
	}
}

// other is told of members that are in no table.
func (x *completion) other(name, value []byte) {
	if x.to == translate.Messages && string(name) == "top_k" {
		x.topK = value
		return
	}
	if !x.traits.Extension(x.to, string(name)) {
		x.losses.AddNamed(translate.Hint, lostRequest, name)
		return
	}
	x.extension(name, value)
}

// readPrompt reads the prompt at hand.
func (x *completion) readPrompt() {
	path := "prompt"
	x.prompt = x.request.Prompt
	if !isString(x.prompt) {
		path = x.choosePrompt()
	}
	switch {
	case !isString(x.prompt): // tokens mean nothing to another model
		x.refuse("prompt", "")
	case len(inner(x.prompt)) == 0: // there is nothing to answer
		x.refuse(path, "")
	default:
		x.remember()
	}
}

// choosePrompt finds the prompt at hand in the list of them, and its path.
func (x *completion) choosePrompt() (path string) {
	x.options = jsonscan.Again(x.prompt)
	x.prompts = 0
	for x.options.EnterArray(); x.options.Element(); x.prompts++ {
		if raw := x.options.Skip(); x.prompts == x.info.Prompt {
			x.prompt = raw
		}
	}
	if x.prompts == 1 {
		return "prompt"
	}
	return "prompt[" + strconv.Itoa(x.info.Prompt) + "]"
}

// remember keeps what the answer repeats of the prompt.
func (x *completion) remember() {
	echo, scores := isTrue(x.request.Echo), x.request.Logprobs != nil
	if echo && scores {
		x.refuse("logprobs", shownNumber(x.request.Logprobs)) // those of the prompt are unknown
	}
	if !echo && !scores {
		return
	}
	text := jsonscan.AppendText(nil, x.prompt)
	x.memory.PromptLength = utf8.RuneCount(text)
	if echo {
		x.memory.Echo = text
	}
}

// readSamples reads how many answers to each prompt are wanted.
func (x *completion) readSamples() {
	n := int64(1)
	if raw := x.request.N; raw != nil {
		n, _ = integer(raw)
	}
	if raw := x.request.BestOf; raw != nil {
		if best, ok := integer(raw); !ok || best != n {
			x.refuse("best_of", shownNumber(raw))
		}
	}
	x.several = x.fanOut(x.request.N)
}

// suffixSystem asks in words for what stands between two texts.
const suffixSystem = "Write only the text that belongs between PREFIX and SUFFIX."

// system is the system text, "" for none.
func (x *completion) system() string {
	text := x.traits.CompletionSystem
	if len(inner(x.request.Suffix)) == 0 {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + suffixSystem
}

// writeUserTurn writes the prompt as what the user says.
func (x *completion) writeUserTurn() {
	x.out = append(x.out, `{"role":"user","content":"`...)
	suffix := inner(x.request.Suffix)
	if len(suffix) > 0 {
		x.shaping("suffix")
		x.out = append(x.out, `PREFIX:\n`...)
	}
	x.out = append(x.out, inner(x.prompt)...)
	if len(suffix) > 0 {
		x.out = append(x.out, `\n\nSUFFIX:\n`...)
		x.out = append(x.out, suffix...)
	}
	x.out = append(x.out, `"}`...)
}
