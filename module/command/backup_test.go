package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestABackupIsRestored(t *testing.T) {
	file := freshData(t)
	folder := filepath.Join(t.TempDir(), "backup")
	succeed(t, "user add alice")
	assert.Equal(t, "The backup is in "+folder+".\n", succeed(t, "backup "+folder))
	succeed(t, "user add bob")

	_, _, err := execute(t, "", "restore "+folder)
	assert.EqualError(t, err, "restoring the backup: "+file+" exists: --force replaces the files of this gateway, and keeps them under other names")
	assert.Regexp(t, `^Previous files have \.replaced-\d{8}T\d{6} in their names now\.\nThe backup is restored\. Start the gateway\.\n$`,
		succeed(t, "restore --force "+folder))
	list := succeed(t, "user list")
	assert.Contains(t, list, "alice")
	assert.NotContains(t, list, "bob")
}

func TestABackupFollowsTheConfiguration(t *testing.T) {
	freshData(t)
	folder := t.TempDir()
	config := filepath.Join(folder, "Caddyfile")
	require.NoError(t, os.WriteFile(config, []byte(`{
		ai_gateway {
			store sqlite `+folder+`/users.db
			ledger {
				journal `+folder+`/records
			}
		}
	}
	http://localhost:1 {
		ai_gateway {
			provider demo
		}
	}`), 0o600))
	succeed(t, "user add alice --config "+config)
	succeed(t, "backup --config "+config+" "+folder+"/backup")
	require.NoError(t, os.Remove(folder+"/users.db"))
	succeed(t, "restore --force --config "+config+" "+folder+"/backup")
	assert.Contains(t, succeed(t, "user list --config "+config), "alice")

	require.NoError(t, os.WriteFile(config, []byte(`{
		ai_gateway {
			store postgres {env.TEST_POSTGRES}
		}
	}
	http://localhost:1 {
		ai_gateway {
			provider demo
		}
	}`), 0o600))
	t.Setenv("TEST_POSTGRES", "postgres://localhost/gateway")
	_, _, err := execute(t, "", "backup --config "+config+" "+folder+"/other")
	assert.ErrorContains(t, err, "pg_dump")
}
