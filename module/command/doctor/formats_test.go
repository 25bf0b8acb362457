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
