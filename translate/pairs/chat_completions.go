package pairs

import (
	"strconv"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
)

// chatCompletions writes a chat request as a completions request: the
// conversation becomes one prompt, which the provider goes on with. The prompt
// gathers in a buffer of its own, since the body may have its members in any
// order.
type chatCompletions struct {
	conversion
	request chat.Request
	reader  chat.Reader
	parts   chat.List // of the message being read
	prompt  prompt
	text    content // of the message being read

	at    int  // the message being read
	part  int  // the part of it
	begun bool // something else than a system text was said

	format chatFormat
}

var chatCompletionsPool = sync.Pool{New: func() any { return new(chatCompletions) }}

func chatToCompletions(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	x := chatCompletionsPool.Get().(*chatCompletions)
	x.begin(dst, translate.Completions, info)
	x.convert(body)
	out, rendered, fault := x.end()
	x.request, x.reader, x.parts, x.format = chat.Request{}, chat.Reader{}, chat.List{}, chatFormat{}
	if x.prompt.size()+cap(x.text.buf)+cap(x.extensions)+cap(x.scratch) <= keptBuffers {
		chatCompletionsPool.Put(x)
	}
	return out, rendered, fault
}

func (x *chatCompletions) convert(body []byte) {
	x.begun = false
	if !x.beginPrompt(&x.prompt) {
		return
	}
	x.malformed(x.reader.Walk(body, &x.request, x))
	x.refuseChat(&x.request)
	tools := x.request.Tools
	x.endTools(tools != nil && !isEmptyList(tools), x.request.ToolChoice)
	if x.format = x.readFormat(x.request.ResponseFormat); x.format.words {
		x.prompt.hoisted.add([]byte(jsonObjectSystem))
	}
	if x.fault == nil && x.prompt.empty() {
		x.invalid("messages", "must hold at least one message with content")
	}
	if x.fault == nil {
		x.write()
	}
}

func (x *chatCompletions) write() {
	r := &x.request
	x.writePrompt(&x.prompt)
	tokens, member := x.chatTokens(r)
	x.writeTokens("max_tokens", tokens, member)
	x.sampleCompletions(r.Temperature, r.TopP, r.TopK)
	for _, f := range [...]struct {
		name string
		raw  []byte
	}{
		{"presence_penalty", r.PresencePenalty}, {"frequency_penalty", r.FrequencyPenalty},
		{"logit_bias", r.LogitBias}, {"seed", r.Seed},
	} {
		x.sample(f.name, f.raw, true)
	}
	x.writeN(x.fanOut(r.N))
	x.readStops(r.Stop, func(string, []byte) {})
	x.writeStops(&x.prompt, r.Stop)
	if x.readStream(r.Stream, r.StreamOptions); x.memory.Stream {
		x.askStream()
	}
	x.writeLogprobs()
	if x.format.schema != nil {
		x.structured(x.format.schema, "response_format")
	}
	x.writeUser()
	if r.ServiceTier != nil {
		x.hint("service_tier")
	}
	x.writeExtensions()
	x.out = append(x.out, '}')
	x.dropRest()
}

// writeLogprobs asks for as many alternatives of each token as the client wants.
func (x *chatCompletions) writeLogprobs() {
	raw := x.request.TopLogprobs
	if !isTrue(x.request.Logprobs) {
		if raw != nil {
			x.hint("top_logprobs")
		}
		return
	}
	x.name("logprobs")
	x.out = strconv.AppendInt(x.out, x.wantLogprobs(raw, "top_logprobs"), 10)
}

// writeUser tells the provider who the end user is.
func (x *chatCompletions) writeUser() {
	raw, path := x.request.User, "user"
	if raw == nil {
		raw, path = x.request.SafetyIdentifier, "safety_identifier"
	} else if x.request.SafetyIdentifier != nil {
		x.hint("safety_identifier")
	}
	if raw != nil {
		x.userID(x.str(raw, path), path)
	}
}

// dropRest reports what only other models can do.
func (x *chatCompletions) dropRest() {
	r := &x.request
	for _, f := range [...]struct {
		path string
		raw  []byte
	}{{"reasoning_effort", r.ReasoningEffort}, {"verbosity", r.Verbosity}, {"prediction", r.Prediction}} {
		if f.raw != nil {
			x.shaping(f.path)
		}
	}
}

// Other is told of members that nothing here reads.
func (x *chatCompletions) Other(level chat.Level, name, value []byte) {
	switch {
	case level == chat.InMessage:
		x.losses.AddNamed(translate.Hint, "messages[*].", name)
	case level == chat.InPart:
		x.losses.AddNamed(translate.Hint, "messages[*].content[*].", name)
	case level != chat.InRequest: // it is refused as a whole
	case x.traits.Extension(x.to, string(name)):
		x.extension(name, value)
	default:
		x.losses.AddNamed(translate.Hint, "", name)
	}
}
