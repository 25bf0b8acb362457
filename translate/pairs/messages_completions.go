package pairs

import (
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// messagesCompletions writes a messages request as a completions request: the
// conversation becomes one prompt, which the provider goes on with. The prompt
// gathers in a buffer of its own, since the body may have its members in any
// order.
type messagesCompletions struct {
	fromMessages
	prompt prompt
	said   said

	tools bool // there are some
}

var messagesCompletionsPool = sync.Pool{New: func() any { return new(messagesCompletions) }}

func messagesToCompletions(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	x := messagesCompletionsPool.Get().(*messagesCompletions)
	x.begin(dst, translate.Completions, info)
	x.convert(body)
	out, rendered, fault := x.end()
	x.forget()
	if x.said = (said{text: x.said.text}); x.prompt.size()+cap(x.said.text.buf)+cap(x.extensions)+cap(x.scratch) <= keptBuffers {
		messagesCompletionsPool.Put(x)
	}
	return out, rendered, fault
}

func (x *messagesCompletions) convert(body []byte) {
	x.tools = false
	x.said.body, x.said.lastUser = body, unknownTurn
	if !x.beginPrompt(&x.prompt) {
		return
	}
	x.readMessages(body, x)
	x.readSystem()
	x.endTools(x.tools, x.request.ToolChoice)
	x.finish()
	if x.fault == nil {
		x.write()
	}
}

// finish refuses a conversation that cannot be gone on with.
func (x *messagesCompletions) finish() {
	if x.said.server.open > 0 {
		x.refuse(x.said.server.path, "'server_tool_use'")
	}
	if x.fault == nil && x.prompt.empty() {
		x.invalid("messages", "must hold at least one message with content")
	}
}

func (x *messagesCompletions) write() {
	r := &x.request
	x.writePrompt(&x.prompt)
	x.writeTokens("max_tokens", r.MaxTokens, "max_tokens")
	x.sampleCompletions(r.Temperature, r.TopP, r.TopK)
	x.rememberStops()
	x.writeStops(&x.prompt, r.StopSequences)
	x.writeStream()
	if schema, path := x.schema(); schema != nil {
		x.structured(schema, path)
	}
	x.writeUser()
	x.writeTier()
	x.writeExtensions()
	x.out = append(x.out, '}')
	x.dropThinking()
}

// dropThinking reports what only models with reasoning of their own can do.
func (x *messagesCompletions) dropThinking() {
	if x.request.Thinking != nil {
		x.shaping("thinking")
	}
	if x.config.effort != nil {
		x.shaping("output_config.effort")
	}
	if x.request.CacheControl != nil {
		x.hint("cache_control")
	}
}

// readSystem puts the system prompt before all else.
func (x *messagesCompletions) readSystem() {
	if text := inner(x.request.System); len(text) > 0 {
		x.prompt.system.add(text)
	}
	at := place{name: "system", lost: lostSystem}
	var blocks messages.Reader
	if raw := x.request.System; len(raw) > 0 && raw[0] == '[' && blocks.Blocks(raw, x) {
		x.said.lost = lostSystem
		for b := blocks.Next(); b != nil && x.fault == nil; b = blocks.Next() {
			x.blockStrays(b, lostSystem)
			x.textBlock(b, &at, &x.prompt.system)
			at.index++
		}
	}
	x.guardText(&x.prompt, x.prompt.system.buf, func() string { return "system" })
}

// Tool notes that there are tools.
func (x *messagesCompletions) Tool(int, *messages.Tool) { x.tools = true }

// Other is told of members that nothing here reads.
func (x *messagesCompletions) Other(level messages.Level, name, value []byte) {
	switch level {
	case messages.InRequest:
		if x.traits.Extension(x.to, string(name)) {
			x.extension(name, value)
		} else {
			x.losses.AddNamed(translate.Hint, "", name)
		}
	case messages.InMessage:
		x.losses.AddNamed(translate.Hint, lostMessage, name)
	case messages.InBlock:
		x.losses.AddNamed(translate.Hint, x.said.lost, name)
	case messages.InSource, messages.InTool: // they are refused or left out as a whole
	}
}
