package openai

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"

// NameLetters are the characters that the name of a tool may have.
const NameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// ChoiceModes are the words of tool_choice, and of the mode of allowed tools.
var ChoiceModes = map[string]reply.ChoiceMode{
	"auto": reply.ChoiceAuto, "none": reply.ChoiceNone, "required": reply.ChoiceAny,
}
