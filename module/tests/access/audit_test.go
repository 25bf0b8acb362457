package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// auditRow is a row of the audit log.
type auditRow struct {
	Actor, Address, Action, Object, Result string
	Changes                                []struct{ Field, Before, After string }
}

// auditOf returns rows of the audit log by the admin API, the newest first.
func auditOf(t *testing.T, s *site.Site, query string) []auditRow {
	t.Helper()
	answer := askAdmin(s, http.MethodGet, "/api/v1/audit?"+query, "")
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	var page struct{ Items []auditRow }
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &page), answer.Body)
	return page.Items
}

// loaded returns the changed parts of a start of a configuration, of which there were so many:
// "+" for one that is new, "-" for one that is gone, and "~" for one that differs. It waits for the
// row: the gateway tries again after a second if its store has not been polled for a while.
func loaded(t *testing.T, s *site.Site, starts int) (parts string) {
	t.Helper()
	var rows []auditRow
	require.Eventually(t, func() bool {
		rows = auditOf(t, s, "action=config.load")
		return len(rows) == starts
	}, site.Patience, site.PollEvery)
	row := rows[0]
	assert.True(t, strings.HasPrefix(row.Actor, "config/"), row.Actor)
	var all []string
	for _, c := range row.Changes {
		sign := "~"
		switch {
		case c.Before == "":
			sign = "+"
		case c.After == "":
			sign = "-"
		}
		all = append(all, sign+c.Field)
	}
	return strings.Join(all, " ")
}

// A key that was added to the Caddyfile left no trace: after a reload, nobody could see since
// when it was there.
func TestEachStartOfAConfigurationIsRecordedWithWhatChanged(t *testing.T) {
	store := filepath.Join(t.TempDir(), "gateway.db")
	t.Setenv("OTHER_KEY", "sk-other-0123456789abcdef00")
	t.Setenv("THIRD_KEY", "sk-third-0123456789abcdef00")
	config := func(lines ...string) string {
		return "{\nadmin 127.0.0.1:PORT(admin)\nai_gateway {\nstore sqlite " + store + "\n}\n}\n" + site.Block("", append([]string{"provider demo", "limit small {\nrequests 60/1m\n}"}, lines...)...)
	}
	s := site.StartCaddyfile(t, config())
	assert.Equal(t, "+configuration +key client +limit small +provider demo", loaded(t, s, 1))

	require.NoError(t, s.Reload(config("key other {env.OTHER_KEY}", "model m {\nto demo/demo\n}")))
	assert.Equal(t, "~configuration +key other +model m", loaded(t, s, 2))
	require.NoError(t, s.Reload(config("key other {env.THIRD_KEY}", "model m {\nto demo/demo\nattempts 1\n}")))
	assert.Equal(t, "~configuration ~key other ~model m", loaded(t, s, 3), "another secret of the same key is a change")
	require.NoError(t, s.Reload(config()))
	assert.Equal(t, "~configuration -key other -model m", loaded(t, s, 4))

	text, err := json.Marshal(auditOf(t, s, ""))
	require.NoError(t, err)
	for _, secret := range []string{site.ClientKey, "sk-other", "sk-third"} {
		assert.NotContains(t, string(text), secret)
	}
}

// Sites with accounts or a store of their own once recorded their own part of the configuration in the
// same database, each over that of the others: a reload had a row for each of them, with changes that
// nobody had made.
func TestSitesWithOneDatabaseRecordOneStart(t *testing.T) {
	t.Setenv("OTHER_KEY", "sk-other-0123456789abcdef00")
	store := "store sqlite " + filepath.Join(t.TempDir(), "gateway.db")
	config := func(more string) string {
		other := strings.Replace(site.Block("", "provider demo", store, "accounts off", "model other {\nto demo/demo\n}", more), "PORT(site)", "PORT(other)", 1)
		return "{\nadmin 127.0.0.1:PORT(admin)\n}\n" + site.Block("", "provider demo", store) + other
	}
	s := site.StartCaddyfile(t, config(""))
	assert.Equal(t, "+configuration +key client +model other +provider demo", loaded(t, s, 1))
	require.NoError(t, s.Reload(config("key other {env.OTHER_KEY}")))
	assert.Equal(t, "~configuration +key other", loaded(t, s, 2))
}

// A change by the admin API has another actor than one by a user.
func TestTheAuditLogHasWhoIsBehindEachAPI(t *testing.T) {
	s := site.StartCaddyfile(t, "{\nadmin 127.0.0.1:PORT(admin)\n}\n"+site.Block("", "provider demo"))
	created := askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"root","role":"root","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	root := logInAs(s, "site", "root")
	require.Equal(t, http.StatusOK, root.ask(http.MethodPost, "/api/v1/keys", `{"user":"root","name":"k"}`).Status)
	var lines []string
	for _, row := range auditOf(t, s, "limit=3") {
		lines = append(lines, fmt.Sprintln(row.Actor, row.Address, row.Action, row.Object, row.Result))
	}
	assert.Equal(t, []string{
		"user/root 127.0.0.1 key.create key/1 ok\n", "user/root 127.0.0.1 login.ok user/root ok\n", "admin_api 127.0.0.1 user.create user/root ok\n",
	}, lines)
	assert.Contains(t, root.ask(http.MethodGet, "/api/v1/audit?action=key", "").Body, `"user/root"`)
}

// A credential of one kind is none of another: a key opens no account, a session no model, and
// neither of them the audit log of others.
func TestCredentialsOfOneKindAreNoneOfAnother(t *testing.T) {
	s := site.StartCaddyfile(t, "{\nadmin 127.0.0.1:PORT(admin)\n}\n"+site.Block("", "provider demo"))
	created := askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"root","role":"root","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	root := logInAs(s, "site", "root")
	made := root.ask(http.MethodPost, "/api/v1/keys", `{"name":"k"}`)
	key := read[struct{ Key string }](t, made).Key
	model := site.BodyFor(site.ChatPath, "demo", "hello", false)
	call := func(method, path, body, credential string) int {
		return s.Call(method, s.URL("site", path), body, "Authorization", "Bearer "+credential).Status
	}
	require.Equal(t, http.StatusOK, call(http.MethodPost, site.ChatPath, model, key))
	require.Equal(t, http.StatusOK, call(http.MethodGet, "/api/v1/audit", "", root.token))
	for _, path := range []string{"/api/v1/audit", "/api/user/self", "/api/user/", "/api/v1/keys"} {
		assert.Equal(t, http.StatusUnauthorized, call(http.MethodGet, path, "", key), path)
		assert.Equal(t, http.StatusUnauthorized, call(http.MethodGet, path, "", site.ClientKey), path)
	}
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, root.token))
	for _, method := range []string{http.MethodDelete, http.MethodPost, http.MethodPut, http.MethodPatch} {
		assert.Equal(t, http.StatusMethodNotAllowed, call(method, "/api/v1/audit", "", root.token), "no method changes the log")
		assert.Equal(t, http.StatusMethodNotAllowed, askAdmin(s, method, "/api/v1/audit", "").Status)
	}
}

// The rows went to the default log only, so that the log of the example got none, and took them
// from the default log.
func TestRowsAreWrittenToTheLogOfTheConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	s := site.StartCaddyfile(t, "{\nadmin 127.0.0.1:PORT(admin)\nlog audit {\noutput file "+file+" {\nroll_disabled\n}\ninclude ai_gateway.audit\n}\nai_gateway {\nstore sqlite "+filepath.Join(t.TempDir(), "gateway.db")+"\n}\n}\n"+site.Block("", "provider demo"))
	require.Equal(t, http.StatusOK, askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"ada","password":"`+site.Password+`"}`).Status)
	assert.EventuallyWithT(t, func(c *assert.CollectT) {
		written, err := os.ReadFile(file)
		require.NoError(c, err)
		assert.Contains(c, string(written), `"msg":"user.create"`)
	}, site.Patience, site.PollEvery)
}
