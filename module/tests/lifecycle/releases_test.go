package lifecycle_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// releases has the data of earlier releases.
const releases = "../../../testdata/releases"

// releaseData is a copy of the data of a release in a kind of store.
type releaseData struct {
	dir     string
	secrets map[string]string // keys, by name
	store   string            // the word store of a Caddyfile
}

// copyRelease copies the data of a release, which is in a folder for each kind of store.
func copyRelease(t *testing.T, release, kind string) releaseData {
	t.Helper()
	d := releaseData{dir: t.TempDir(), secrets: map[string]string{"FILE": "sk-first-release-file-0123456789"}}
	require.NoError(t, os.CopyFS(d.dir, os.DirFS(filepath.Join(release, kind))))
	keys, err := os.ReadFile(filepath.Join(release, "keys"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "keys"), keys, 0o600))
	secrets, err := os.ReadFile(filepath.Join(d.dir, "secrets"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^(\w+)=(.+)$`).FindAllStringSubmatch(string(secrets), -1) {
		d.secrets[m[1]] = m[2]
	}
	d.store = "store sqlite " + filepath.Join(d.dir, "gateway.db")
	return d
}

// start starts a gateway with the data.
func (d releaseData) start(t *testing.T) *site.Process {
	return site.StartProcess(t, "", d.store, "ledger {\njournal "+filepath.Join(d.dir, "journal")+"\nrecords 36500\n}", "accounts",
		"keys_file "+filepath.Join(d.dir, "keys"), "limit day {\nper key\nbudget 1/month\n}", "provider demo {\npace off\nprice demo input 10 output 50\n}")
}

// firstUsage is what the five requests of the first release used.
const firstUsage = `
USER   REQUESTS  INPUT  CACHE READ  CACHE WRITE  OUTPUT  COST
ada    1         1      0           0            20      0.001010 USD
bob    2         2      0           0            40      0.002020 USD
root   2         2      0           0            40      0.002020 USD
total  5         5      0           0            100     0.005050 USD
`

// assertWhole checks that a gateway has all users, keys and records of a release.
func (d releaseData) assertWhole(t *testing.T, p *site.Process) {
	t.Helper()
	admin := strings.TrimPrefix(p.AdminURL(""), "http://")
	assert.Eventually(t, func() bool {
		return "\n"+site.RunCommand(t, "ai-gateway usage --by user --from 2026-11-01 --to 2100-01-01 --address "+admin) == firstUsage
	}, site.Patience, site.PollEvery, "the journal has two of the five requests")
	for key, status := range map[string]int{"FILE": http.StatusOK, "LAPTOP": http.StatusOK, "BOB": http.StatusOK, "REVOKED": http.StatusUnauthorized} {
		answer := p.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "demo", "hello", false), "Authorization", "Bearer "+d.secrets[key])
		assert.Equal(t, status, answer.Status, "%s: %s", key, answer.Body)
	}
	login := p.Ask("/api/user/login", `{"username":"root","password":"first-release-password"}`)
	assert.Equal(t, http.StatusOK, login.Status, login.Body)
}

// An upgrade keeps users, keys and usage, and a return to the data of before has them again.
func TestTheDataOfEveryReleaseOpens(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(releases, "v*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	cluster, postgres := storetest.Postgres(t)
	t.Parallel()
	for _, release := range folders {
		t.Run(filepath.Base(release)+" in SQLite", func(t *testing.T) {
			t.Parallel()
			before := copyRelease(t, release, "sqlite")
			before.assertWhole(t, before.start(t))
		})
		if !postgres {
			continue
		}
		t.Run(filepath.Base(release)+" in PostgreSQL", func(t *testing.T) {
			d := copyRelease(t, release, "postgres")
			script, err := os.ReadFile(filepath.Join(d.dir, "gateway.sql"))
			require.NoError(t, err)
			dsn := cluster.NewDatabase(t)
			cluster.SQL(t, dsn[strings.LastIndex(dsn, "=")+1:], string(script))
			file := filepath.Join(d.dir, "dsn")
			require.NoError(t, os.WriteFile(file, []byte(dsn), 0o600))
			d.store = "store postgres {file." + file + "}"
			d.assertWhole(t, d.start(t))
		})
	}
}
