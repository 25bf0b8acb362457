package command

import (
	"archive/tar"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/quickstart"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters"
)

// TestMain keeps the commands of the tests away from a gateway that runs on this machine.
func TestMain(m *testing.M) {
	caddy.DefaultAdminListen = "127.0.0.1:1"
	os.Exit(m.Run())
}

// startService starts a gateway with an admin API at its usual address, whose data directory is not
// that of the commands, as the service of the package has its own. It returns that directory.
func startService(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	usual := caddy.DefaultAdminListen
	caddy.DefaultAdminListen = listener.Addr().String()
	freshData(t)
	data := os.Getenv("XDG_DATA_HOME")
	config, err := quickstart.Adapt(`{
		ai_gateway {
			limit employee {
				per user
				budget 100/month
			}
			store sqlite ` + data + `/service.db
			ledger {
				journal ` + data + `/journal
			}
		}
	}
	http://127.0.0.1:0 {
		ai_gateway {
			provider demo
		}
	}`)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, caddy.Stop())
		caddy.DefaultAdminListen = usual
	})
	config.Admin = &caddy.AdminConfig{Listen: caddy.DefaultAdminListen}
	require.NoError(t, caddy.Run(config))
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	return data
}

// TestCommandsFindTheRunningGateway: `user add root`, as the package's Caddyfile has it, wrote the
// user into a store of the account root, whom the console of the service did not know.
func TestCommandsFindTheRunningGateway(t *testing.T) {
	data := startService(t)
	out, messages, err := execute(t, "", "user add root --role root")
	require.NoError(t, err)
	assert.Contains(t, out, "username: root\n")
	assert.Equal(t, "Using the gateway that runs at "+caddy.DefaultAdminListen+".\n", messages)
	for _, line := range []string{"user list", "usage", "audit", "key list", "team list"} {
		_, messages, err := execute(t, "", line)
		require.NoError(t, err, line)
		assert.Contains(t, messages, "Using the gateway that runs at ", line)
	}
	_, _, err = execute(t, "", "key new --user root --name laptop --limit nobody")
	assert.ErrorContains(t, err, "the limits of the configuration are: employee", "the limits are those of the gateway that runs")
	assert.NoDirExists(t, filepath.Join(os.Getenv("XDG_DATA_HOME"), "caddy"), "no other store is made")

	folder := filepath.Join(t.TempDir(), "backups", "gateway-1")
	assert.Equal(t, "The backup is in "+folder+".\n", succeed(t, "backup "+folder))
	for _, name := range []string{"backup.json", "store.db", "ledger.db"} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	left, err := filepath.Glob(filepath.Join(data, "caddy", "backup-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "the gateway keeps no copy")
	_, _, err = execute(t, "", "backup "+folder)
	assert.ErrorContains(t, err, folder+" is not empty: name a new folder")
}

// TestARestoreNeedsTheStoreOfTheService: `restore` of root, without --config and while the service ran,
// put the backup into a store of root, and reported success.
func TestARestoreNeedsTheStoreOfTheService(t *testing.T) {
	data := startService(t)
	folder := filepath.Join(t.TempDir(), "gateway-1")
	succeed(t, "backup "+folder)
	for _, line := range []string{"restore " + folder, "restore --force " + folder} {
		_, _, err := execute(t, "", line)
		assert.EqualError(t, err, "restoring the backup: a gateway runs at "+caddy.DefaultAdminListen+": stop it first, and name its configuration with --config")
	}
	assert.NoDirExists(t, filepath.Join(os.Getenv("XDG_DATA_HOME"), "caddy", "ai_gateway"), "no other store is made")

	require.NoError(t, caddy.Stop())
	config := filepath.Join(t.TempDir(), "Caddyfile")
	require.NoError(t, os.WriteFile(config, []byte("{\n\tai_gateway {\n\t\tstore sqlite "+data+"/other.db\n\t}\n}\nhttp://127.0.0.1:0 {\n\tai_gateway {\n\t\tprovider demo\n\t}\n}\n"), 0o600))
	_, messages, err := execute(t, "", "restore --config "+config+" "+folder)
	require.NoError(t, err)
	assert.Equal(t, "Using the store sqlite "+data+"/other.db.\n", messages)
	assert.FileExists(t, filepath.Join(data, "other.db"))
	_, messages, err = execute(t, "", "restore "+folder)
	require.NoError(t, err)
	assert.Regexp(t, "^Using the store sqlite "+os.Getenv("XDG_DATA_HOME"), messages)
}

func TestWithoutARunningGatewayTheStoreIsNamed(t *testing.T) {
	file := freshData(t)
	for _, line := range []string{"user add alice", "user list", "usage", "backup " + filepath.Join(t.TempDir(), "b")} {
		_, messages, err := execute(t, "", line)
		require.NoError(t, err, line)
		assert.Equal(t, "No gateway answers at 127.0.0.1:1. Using the store sqlite "+file+".\n", messages, line)
	}
}

// What answers may be another program, or a gateway that stops in the middle.
func TestABackupThatBreaksOffLeavesNothing(t *testing.T) {
	answers := map[string]func(http.ResponseWriter){
		"short": func(w http.ResponseWriter) {
			archive := tar.NewWriter(w)
			_ = archive.WriteHeader(&tar.Header{Name: "store.db", Size: 1000, Mode: 0o600})
			_, _ = archive.Write([]byte("half"))
			panic(http.ErrAbortHandler)
		},
		"elsewhere": func(w http.ResponseWriter) {
			archive := tar.NewWriter(w)
			_ = archive.WriteHeader(&tar.Header{Name: "../evil", Size: 1, Mode: 0o600})
			_, _ = archive.Write([]byte("x"))
			_ = archive.Close()
		},
		"refused": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"nothing": func(http.ResponseWriter) {},
	}
	for name, answer := range answers {
		running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		folder, there := filepath.Join(t.TempDir(), name), t.TempDir()
		for _, to := range []string{folder, there} {
			_, _, err := execute(t, "", "backup --address "+strings.TrimPrefix(running.URL, "http://")+" "+to)
			assert.ErrorContains(t, err, "making the backup: ", name)
			assert.NoFileExists(t, filepath.Join(filepath.Dir(to), "evil"), name)
		}
		assert.NoDirExists(t, folder, name)
		entries, err := os.ReadDir(there)
		require.NoError(t, err, "a folder that was there stays: "+name)
		assert.Empty(t, entries, name)
		running.Close()
	}
}

// block is a block of commands of a page, and shown a command in it that needs nothing but a
// running gateway.
var (
	block = regexp.MustCompile("(?s)```sh\n(.*?)```")
	shown = regexp.MustCompile(`(?m)^(?:sudo )?caddy ai-gateway ((?:user|team|key|usage|audit|limits|status|targets|backup)\b[^|>\n]*)$`)
)

// TestCommandsOfThePagesRun runs the commands of the pages in their order: the backup of the pages
// could not write where they put it.
func TestCommandsOfThePagesRun(t *testing.T) {
	for page, least := range map[string]int{
		"../../caddyfile/docs/audit.md": 4, "../../README.md": 2, "../../caddyfile/docs/users.md": 5, "../../caddyfile/docs/teams.md": 9, "../../caddyfile/docs/operations.md": 2,
		"../../caddyfile/docs/setup.md": 4, "../../caddyfile/docs/usage.md": 4, "../../caddyfile/docs/sign-in.md": 3, "../../caddyfile/docs/tags.md": 3,
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			startService(t)
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			ran := 0
			for _, commands := range block.FindAllStringSubmatch(string(text), -1) {
				for _, command := range shown.FindAllStringSubmatch(commands[1], -1) {
					line := strings.NewReplacer("'", "", "/var/backups", t.TempDir()).Replace(command[1])
					_, _, err := execute(t, "", line)
					assert.NoError(t, err, line)
					ran++
				}
			}
			assert.GreaterOrEqual(t, ran, least)
		})
	}
}
