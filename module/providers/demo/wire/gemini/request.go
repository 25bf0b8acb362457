package gemini

import (
	"encoding/json"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// reader reads one request.
type reader struct {
	*reply.Request
	body   *wire.Body
	calls  map[string]int // without a response, by id or else by name
	last   string         // role of the content before
	hidden bool           // the answer does not show its thoughts
}

func read(b *wire.Body) *reader {
	b.Known(
		"model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
		"cachedContent", "serviceTier", "labels",
	)
	r := &reader{Request: &reply.Request{}, body: b, calls: make(map[string]int)}
	if system, there := b.Sub("systemInstruction"); there {
		system.Each("parts", func(p wire.Object) { r.AddSystem(p.Text("text")) })
	}
	if len(b.Items("contents")) == 0 {
		b.Fail("contents", "must hold at least one content")
	}
	b.Each("contents", r.content)
	r.config()
	b.Each("tools", r.tool)
	r.choice()
	return r
}

// content reads a content. The newest contents of the user are answered.
func (r *reader) content(c wire.Object) {
	c.Known("role", "parts")
	r.Messages++
	role := c.OneOf("role", "user", "model", "function")
	if role == "model" {
		r.Later = true
	} else if r.last == "model" {
		r.Prompts, r.Results = nil, nil
	}
	r.last = role
	c.Each("parts", func(p wire.Object) { r.part(role, p) })
}

func (r *reader) part(role string, p wire.Object) {
	p.Known("text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse")
	call, isCall := p.Sub("functionCall")
	response, isResponse := p.Sub("functionResponse")
	switch {
	case isCall && role != "model":
		p.Fail("functionCall", "is only allowed in contents of the model")
	case isCall:
		r.calls[keyOf(call)]++
		r.AddText(string(call.Raw("args")))
	case isResponse:
		r.response(response)
	case p.Has("inlineData"), p.Has("fileData"):
		r.AddMedia()
	case role != "model":
		r.Prompts = []string{p.Text("text")}
		r.AddText(p.Text("text"))
	default:
		r.AddText(p.Text("text"))
	}
}

// keyOf returns what pairs a call with its response.
func keyOf(o wire.Object) string {
	if id := o.Text("id"); id != "" {
		return "id " + id
	}
	return o.Need("name")
}

func (r *reader) response(o wire.Object) {
	key := keyOf(o)
	if r.calls[key] == 0 {
		o.Fail("name", "does not answer a function call in front of it")
	}
	r.calls[key]--
	var response map[string]json.RawMessage
	_ = json.Unmarshal(o.Raw("response"), &response) // an invalid response has no output
	result := string(o.Raw("response"))
	for _, name := range []string{"output", "error"} {
		var text string
		if json.Unmarshal(response[name], &text) == nil {
			result = text
		}
	}
	r.Results = append(r.Results, result)
	r.AddText(result)
}

// config reads the options of the answer.
func (r *reader) config() {
	c, _ := r.body.Sub("generationConfig")
	c.Known(
		"stopSequences", "responseMimeType", "responseSchema", "responseJsonSchema", "candidateCount", "maxOutputTokens", "temperature",
		"topP", "topK", "seed", "presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs", "thinkingConfig", "mediaResolution",
	)
	c.Number("temperature", 0, 2)
	c.Number("topP", 0, 1)
	r.Limit = c.Integer("maxOutputTokens", 1, -1)
	r.N = c.Integer("candidateCount", 1, 1)
	r.Stops = c.Strings("stopSequences")
	if c.Text("responseMimeType") == "application/json" {
		r.Schema = []byte(`{"type":"object"}`)
	}
	for _, name := range []string{"responseSchema", "responseJsonSchema"} {
		if c.Has(name) {
			r.Schema = lowered(c.Raw(name))
		}
	}
	t, there := c.Sub("thinkingConfig")
	t.Known("includeThoughts", "thinkingBudget", "thinkingLevel")
	r.Reason = there && t.Integer("thinkingBudget", -1, 1) != 0
	r.hidden = !t.Flag("includeThoughts")
}

// tool reads an element of the tools. The service itself runs those without declarations.
func (r *reader) tool(t wire.Object) {
	t.Each("functionDeclarations", func(f wire.Object) {
		f.Known("name", "description", "parameters", "parametersJsonSchema", "response", "behavior")
		schema := f.Raw("parametersJsonSchema")
		if f.Has("parameters") {
			schema = lowered(f.Raw("parameters"))
		}
		r.AddTool(reply.Tool{Name: f.Need("name"), Schema: schema}, f.Definition())
	})
	if !t.Has("functionDeclarations") {
		r.AddTool(reply.Tool{Server: true}, t.Definition())
	}
}

// lowered returns a schema with the types of JSON Schema.
func lowered(schema json.RawMessage) json.RawMessage {
	text := string(schema)
	for _, word := range []string{"OBJECT", "STRING", "ARRAY", "INTEGER", "NUMBER", "BOOLEAN"} {
		text = strings.ReplaceAll(text, `"`+word+`"`, `"`+strings.ToLower(word)+`"`)
	}
	return json.RawMessage(text)
}

// choice reads the choice among the tools.
func (r *reader) choice() {
	config, _ := r.body.Sub("toolConfig")
	calling, _ := config.Sub("functionCallingConfig")
	calling.Known("mode", "allowedFunctionNames")
	r.Choice.Mode = map[string]reply.ChoiceMode{"NONE": reply.ChoiceNone, "ANY": reply.ChoiceAny}[calling.OneOf("mode", "AUTO", "ANY", "NONE", "VALIDATED")]
	if names := calling.Strings("allowedFunctionNames"); len(names) == 1 {
		r.Choice.Name = names[0]
	}
}
