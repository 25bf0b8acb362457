package access_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// keyless is a site without any key of the configuration.
func keyless(lines ...string) string {
	return "http://127.0.0.1:PORT(keyless) {\nai_gateway {\n" + site.DemoProvider + "\n" + strings.Join(lines, "\n") + "\n}\n}\n"
}

// warnings returns the number of warnings that no client can use the gateway.
func warnings(s *site.Site) int {
	return strings.Count(s.Logs.String(), "nobody can use this gateway yet")
}

// A site with neither a key nor a user once answered every request 401, and no log line
// explained why.
func TestAGatewayThatNobodyCanUseLogsHowToBegin(t *testing.T) {
	file, _ := site.KeysFile(t, "# nobody yet")
	s := site.StartCaddyfile(t, keyless()+strings.ReplaceAll(keyless("max_body 1MiB", "keys_file "+file), "keyless", "second"))
	assert.Equal(t, 1, warnings(s), "once for all sites")
	entry, err := s.Logs.WaitEntry(site.Waiting(t), func(e map[string]any) bool { return e["first_user"] != nil })
	require.NoError(t, err)
	assert.Equal(t, "warn", entry["level"])
	assert.Contains(t, entry["first_user"], "caddy ai-gateway user add root --role root")

	require.NoError(t, s.Reload(keyless()+site.Block("", site.DemoProvider)))
	assert.Equal(t, 2, warnings(s), "one of the sites")
	s.AddUser("alice")
	require.NoError(t, s.Reload(keyless()))
	assert.Equal(t, 2, warnings(s), "there is a user")
	assert.Equal(t, http.StatusNoContent, askAdmin(s, http.MethodDelete, "/api/v1/users/alice", "").Status)
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider)))
	assert.Equal(t, 2, warnings(s), "there is a key")
}

func TestAStoreThatCannotBeReadIsNotCalledEmpty(t *testing.T) {
	s := &site.Site{Caddy: gatewaytest.NewCaddy(t), T: t}
	require.NoError(t, os.MkdirAll(filepath.Dir(databaseOf(s)), 0o700))
	require.NoError(t, os.WriteFile(databaseOf(s), []byte(strings.Repeat("this is no database. ", 999)), 0o600))
	require.NoError(t, s.Reload(keyless()))
	assert.Zero(t, warnings(s))
}
