package request

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// A member that is read, and that no row names, would be lost without anyone having
// decided so.
func TestEveryMemberThatIsReadHasARow(t *testing.T) {
	fields := core.Join(&Source, &core.Target{Outcomes: new(core.Outcomes)})
	for table, at := range map[*shape.Table][]string{
		shape.New("messages tools tool_choice response_format modalities"): {""},

		messageShapes:    {"messages[*]."},
		partShapes:       {"messages[*].content[*].", "messages[*].thinking_blocks[*]."},
		mediaShapes:      {"messages[*].content[*].image_url.", "messages[*].content[*].file.", "messages[*].content[*].input_audio."},
		callShapes:       {"messages[*].tool_calls[*]."},
		calledShapes:     {"messages[*].tool_calls[*].function.", "messages[*].tool_calls[*].custom."},
		toolShapes:       {"tools[*]."},
		definitionShapes: {"tools[*].function.", "tools[*].custom."},
		customFormats:    {"tools[*].custom.format."},
		grammarMembers:   {"tools[*].custom.format.grammar."},
		choiceShapes:     {"tool_choice."},
		chosenMembers:    {"tool_choice.function."},
		allowedMembers:   {"tool_choice.allowed_tools."},
		answerFormats:    {"response_format."},
	} {
		for _, name := range table.Names() {
			assert.True(t, translatetest.HasRow(fields, at, name), "%s%s", at, name)
		}
	}
}
