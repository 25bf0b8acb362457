package request

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// A member that is read, and that no row names, would be lost without anyone having
// decided so.
func TestEveryMemberThatIsReadHasARow(t *testing.T) {
	table := core.Join(&Source, &core.Target{Outcomes: new(core.Outcomes)})
	for names, at := range map[*core.Names][]string{
		core.NewNames("messages", "tools", "tool_choice", "response_format", "modalities"): {""},

		messageMembers:  {"messages[*]."},
		partMembers:     {"messages[*].content[*].", "messages[*].thinking_blocks[*]."},
		mediaMembers:    {"messages[*].content[*].image_url.", "messages[*].content[*].file."},
		callMembers:     {"messages[*].tool_calls[*]."},
		calledMembers:   {"messages[*].tool_calls[*].function.", "messages[*].tool_calls[*].custom."},
		toolMembers:     {"tools[*]."},
		functionMembers: {"tools[*].function.", "tools[*].custom."},
		customFormats:   {"tools[*].custom.format."},
		grammarMembers:  {"tools[*].custom.format.grammar."},
		choiceMembers:   {"tool_choice."},
		chosenMembers:   {"tool_choice.function."},
		allowedMembers:  {"tool_choice.allowed_tools."},
		formatMembers:   {"response_format."},
	} {
		for _, name := range names.List() {
			assert.True(t, translatetest.HasRow(table, at, name), "%s%s", at, name)
		}
	}
}
