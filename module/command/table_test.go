package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/doctor"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// Clients choose names of models, and providers choose texts of errors. Escape sequences
// in them once changed the terminal of the operator, and line breaks forged rows.
func TestTablesHaveNoInvisibleCharacters(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printUsage(&out, []string{"model"}, []api.Usage{{Model: "m\x1b]0;x\a\nalice\t9\u009b31m\u202e"}}))
	assert.Equal(t, `MODEL                 REQUESTS  INPUT  CACHE READ  CACHE WRITE  OUTPUT  COST
m ]0;x  alice 9 31m   0         0      0           0            0       0
`, out.String())
	out.Reset()
	require.NoError(t, printResults(&out, []doctor.Result{{Model: "m", Reason: "400: \x1b[2J", Advice: "a"}}))
	assert.NotContains(t, out.String(), "\x1b")
	assert.Contains(t, out.String(), "try: a")
}
