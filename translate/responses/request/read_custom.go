package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// custom declares a tool that takes a free text, which is wrapped for providers that
// have functions alone.
func (r *requestReader) custom() {
	tool := core.Tool{Description: r.toolList.object.Raw("description"), Free: true}
	if tool.Description != nil && !jsonscan.IsString(tool.Description) {
		r.x.Invalid("description", "must be a string")
	}
	if raw := r.toolList.object.Raw("format"); raw != nil {
		r.grammar(raw, &tool)
	}
	if r.x.Can(core.FreeTool) {
		r.declare(tool, translate.ClientTool{})
	} else {
		r.declare(wrapped(tool), translate.ClientTool{Wrapped: true})
	}
}

// grammar reads which text a tool takes. A provider that does not hold the model to it
// still shows it to the model.
func (r *requestReader) grammar(raw []byte, tool *core.Tool) {
	f := &r.toolList.format
	f.ReadRaw(r.x, raw, customFormats, "format")
	f.LoseOthers(r.x, f.Shape())
	switch kind := f.Raw("type"); string(jsonscan.DecodedOf(kind)) {
	case "text":
	case "grammar":
		tool.Syntax, tool.Definition = f.Raw("syntax"), f.Raw("definition")
		if !jsonscan.IsString(tool.Syntax) || !jsonscan.IsString(tool.Definition) {
			r.x.Invalid("format", "must have a syntax and a definition")
		}
		r.x.Keep(core.Grammar, nil)
	default:
		r.x.Lose(unknownGrammarRow, kind)
	}
}

// wrapping is the schema of a function that replaces a custom tool, whose input is free
// text.
const wrapping = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// wrapped returns the function that replaces a custom tool.
func wrapped(tool core.Tool) core.Tool {
	words := append([]byte{'"'}, jsonscan.Inner(tool.Description)...)
	if len(words) > 1 {
		words = append(words, `\n\n`...)
	}
	words = append(words, `Put the raw text, as it is, into the member \"input\".`...)
	if tool.Syntax != nil {
		words = append(append(words, ` It follows this grammar (`...), jsonscan.Inner(tool.Syntax)...)
		words = append(append(words, `):\n`...), jsonscan.Inner(tool.Definition)...)
	}
	return core.Tool{Description: append(words, '"'), Schema: []byte(wrapping)}
}
