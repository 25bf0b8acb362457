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
	const block = "messages.*.content.*."
	for names, at := range map[*core.Names][]string{
		core.NewNames("messages", "tools", "system", "output_format"): {""},
		core.NewNames("role", "content", "output_config", "clear_at"): {"messages.*."},
		memberIndex: {block, block + "source.", block + "content.*."},
		toolMembers: {"tools.*."},
	} {
		for _, name := range names.List() {
			assert.True(t, translatetest.HasRow(table, at, name), "%s%s", at, name)
		}
	}
}
