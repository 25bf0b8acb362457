package fault

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// What a provider blames a request for is logged in the words of this file, since the
// message of the provider may quote the request.

// Blame is what a provider blames a request for. The zero value blames it for nothing.
type Blame struct {
	// Reason is one of a closed list, for the log; "" if the provider does not blame the
	// request.
	Reason string
	// Content is true if the provider refuses the content of the request.
	Content bool
	// Excess is what is too much if the request asks for more tokens than its answer can
	// have; nil if it does not.
	Excess *Excess
	// Costly is true if the gateway's account has credit, and not enough for a request of this size.
	Costly bool

	places []string // that may be the path of the field at fault, in the provider's words
	sum    *sum     // of prompt and answer, if the context has no room for both; nil if the parts are known
}

const reasonExcess = "more tokens are asked for than the answer can have"

// reasons are parts of messages of providers, in lower case, and the reason that they
// imply. The first row that matches counts.
var reasons = []struct {
	reason string
	parts  []string
}{
	{"tools are not supported", []string{
		"does not support tools",                // Ollama
		"tool choice requires",                  // vLLM without a parser of calls
		"tool use is not supported",             // Groq
		"endpoints found that support tool use", // OpenRouter
	}},
	{"images are not supported", []string{
		"missing data required for image input", // Ollama
		"does not support image",                // many
		"support image input",                   // llama.cpp, OpenRouter
		"image input is not supported",          // llama.cpp
		"is not a multimodal model",             // vLLM
	}},
	{"audio is not supported", []string{"audio input is not supported"}},                              // llama.cpp
	{"thinking is not supported", []string{"does not support thinking"}},                              // Ollama
	{"a system message is not at the beginning", []string{"system message must be at the beginning"}}, // templates of Qwen
	{"roles do not alternate", []string{"roles must alternate"}},                                      // templates of Llama, Mistral, Gemma
	{"a field is missing", []string{"field required", "missing required"}},                            // Anthropic, FastAPI; OpenAI
	{"a value is not supported", []string{"unsupported value"}},                                       // OpenAI
	{"a field is unknown or not supported", []string{
		"unsupported parameter", "unrecognized request argument", // OpenAI
		"extra inputs are not permitted", // Anthropic, FastAPI
		"unknown field",                  // Go, Rust
	}},
}

// blamed are the kinds that blame the request, with the reason if the message implies
// none.
var blamed = map[Kind]string{
	Invalid:  "the request is not valid",
	NotFound: "the model or the endpoint is not known",
	Conflict: "the request conflicts with another one",
	TooLarge: "the request is too large",
}

// reason returns what the provider blames the request for, "" if it does not blame the
// request. Servers answer 500 if the template of a conversation fails, and llama.cpp for
// images without a model for them, so that there the message alone shows it.
func (d detail) reason(row statusRow) string {
	general := blamed[row.kind]
	switch {
	case general == "" && row.kind != Internal:
		return ""
	case row.code == CodeOverflow:
		return "the input is longer than the context"
	case row.code == codeExcess:
		return reasonExcess
	}
	for _, known := range reasons {
		if containsAny(d.message, known.parts...) {
			return known.reason
		}
	}
	if d.violatesPolicy(row) {
		return "a policy of the provider refuses the content"
	}
	return general
}

// maxSteps bounds the paths that are logged.
const maxSteps = 8

// maxIndex bounds the indices that are logged.
const maxIndex = 1_000_000

// wrappers are the names with which servers begin the paths of fields: FastAPI, Google.
var wrappers = []string{"body", "GenerateContentRequest"}

// namedPlaces find the path of a field in the message of a provider, in its group.
var namedPlaces = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^\W*([^\s:]+): `),                 // Anthropic, Google: messages.0.content: Field required
		regexp.MustCompile(` at '([^']+)'`),                   // Google: Unknown name "x" at 'contents[0]'; AWS: Value at 'inferenceConfig.topP'
		regexp.MustCompile(`^[\w ]*:? '([^' ]+)'`),            // OpenAI: Invalid 'input[0].id': string too long; Unsupported parameter: 'top_p'
		regexp.MustCompile("^[\\w ]*:? [`\"]([^`\" ]+)[`\"]"), // the same with other quotes
	}
})

// Path returns the path of the field that the provider blames, "" for none. isMember reports
// whether a word is the name of a member of requests, or of a type of objects in them: the
// path ends before the first step that is neither that nor an index, since that may be a text
// of the client.
func (b *Blame) Path(isMember func(string) bool) string {
	for _, place := range b.places {
		steps := strings.FieldsFunc(place, func(r rune) bool { return strings.ContainsRune(".[]", r) })
		foreign := slices.IndexFunc(steps, func(step string) bool { return !isIndex(step) && !slices.Contains(wrappers, step) && !isMember(step) })
		if foreign >= 0 {
			steps = steps[:foreign]
		}
		if path := strings.Join(steps[:min(len(steps), maxSteps)], "."); path != "" {
			return path
		}
	}
	return ""
}

// isIndex reports whether a step of a path is an index.
func isIndex(step string) bool {
	index, err := strconv.Atoi(step)
	return err == nil && index >= 0 && index < maxIndex
}

// places returns the words of the provider that may be the path of the field at fault.
func (d detail) places() (places []string) {
	if d.param != "" {
		places = append(places, d.param)
	}
	if d.rpc.field != "" {
		places = append(places, d.rpc.field)
	}
	for _, named := range namedPlaces() {
		if match := named.FindStringSubmatch(d.message); match != nil {
			places = append(places, match[1])
		}
	}
	return places
}
