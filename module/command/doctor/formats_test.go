package doctor

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// The product of this package depends on no format of the gateway, so a new format is not in
// its list by itself.
func TestEveryFormatIsExamined(t *testing.T) {
	for _, f := range wire.All() {
		assert.True(t, slices.ContainsFunc(formats, func(own format) bool { return own.name == f.String() }), f.Name)
	}
}

// A format of turns without tools and images was asked for a call and shown an image: every
// model of the demo provider was broken in it.
func TestAFormatHasTheProbesThatItsRequestsCanExpress(t *testing.T) {
	texts := format{turns: "turns", changes: changes{system: func(map[string]any) {}}}
	for probe, has := range map[string]bool{"text": true, "system": true, "turns": true, "tools": false, "image": false, "count": false} {
		assert.Equal(t, has, texts.has(probe), probe)
	}
}
