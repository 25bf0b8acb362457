package request

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// A member that is read, and that no row names, would be lost without anyone having
// decided so.
func TestEveryMemberThatIsReadHasARow(t *testing.T) {
	fields := core.Join(&Source, &core.Target{Outcomes: new(core.Outcomes)})
	const block = "messages.*.content.*."
	for table, at := range map[*schema.Table][]string{
		schema.New("messages tools system output_format"): {""},
		schema.New("role content output_config clear_at"): {"messages.*."},
		blockShapes:  {block, block + "source.", block + "content.*."},
		sourceShapes: {block + "source."},
		toolMembers:  {"tools.*."},
	} {
		for _, name := range table.Names() {
			assert.True(t, translatetest.HasRow(fields, at, name), "%s%s", at, name)
		}
	}
}
