package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// auditText returns all rows of the audit log of a store as one text.
func (s *site) auditText(store aigateway.Store) string {
	rows, err := store.(aigateway.AuditLog).AuditEntries(s.t.Context(), aigateway.AuditQuery{Limit: 1000})
	require.NoError(s.t, err)
	text, err := json.Marshal(rows)
	require.NoError(s.t, err)
	return string(text)
}

// rows returns the rows of the audit log that a query selects, the oldest first, as lines. An ID
// of a session or a digest is replaced by its kind.
func (s *site) rows(token, query string) (lines []string) {
	s.t.Helper()
	answer := s.ask(testRequest{call: "GET /api/v1/audit?" + query, token: token})
	require.Equal(s.t, http.StatusOK, answer.status, answer.body)
	items := answer.data(s.t)["items"].([]any)
	for i := range items {
		row := items[len(items)-1-i].(map[string]any)
		parts := []string{fmt.Sprint(row["actor"], " ", row["action"], " ", row["object"], " ", row["result"])}
		for _, change := range row["changes"].([]any) {
			c := change.(map[string]any)
			if strings.HasPrefix(fmt.Sprint(c["after"]), "sha256:") {
				c["after"] = "digest"
			}
			if strings.HasPrefix(fmt.Sprint(c["before"]), "sha256:") {
				c["before"] = "digest"
			}
			parts = append(parts, fmt.Sprintf("%s[%s>%s]", c["field"], c["before"], c["after"]))
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// Operators once searched the log for who had made a change, and did not find what it was
// before.
func TestEachChangeHasARowOfWhoMadeIt(t *testing.T) {
	s, root, alice := keySite(t)
	begin := len(s.rows(root, "limit=1000"))
	for _, a := range []testRequest{
		{call: newKeyCall, body: `{"name":"k"}`, token: alice},
		{call: "PUT /api/token/", body: `{"id":1,"name":"k2"}`, token: alice},
		{call: "PUT /api/token/", body: `{"id":1,"name":"k2"}`, token: alice},
		{call: "PATCH /api/v1/keys/1", body: `{"disabled":true}`, token: root},
		{call: "DELETE /api/token/1", token: alice},
		{call: "PUT /api/user/self", body: `{"password":"another horse","original_password":"wrong horse"}`, token: alice},
		{call: "PUT /api/user/self", body: `{"password":"another horse","original_password":"` + password + `"}`, token: alice},
		{call: "POST /api/user/manage", body: `{"id":2,"action":"disable"}`, token: root},
		{call: "POST /api/user/manage", body: `{"id":2,"action":"enable"}`, token: root},
		{call: "POST /api/user/manage", body: `{"id":2,"action":"promote"}`, token: root},
		{call: loginCall, body: credentials("root", "wrong horse")},
		{call: loginCall, body: credentials("nobody", "wrong horse")},
		{call: loginCall, body: credentials("root", password)},
		{call: "POST /api/v1/keys", body: `{"user":"alice","name":"k3","models":["a"]}`, token: root},
		{call: "DELETE /api/user/2", token: root},
		{call: "DELETE /api/v1/users/root/sessions", token: root},
		{call: "GET /api/user/logout", token: root},
	} {
		s.ask(a)
	}
	s.admin("PATCH /api/v1/users/root", `{"display_name":"The Root"}`)
	assert.Equal(t, []string{
		"user/alice key.create key/1 ok name[>k] disabled[>false] expires[>never] digest[>digest] user[>alice]",
		"user/alice key.update key/1 ok name[k>k2]",
		"user/root key.disable key/1 ok disabled[false>true]",
		"user/alice key.delete key/1 ok name[k2>] disabled[true>] expires[never>] digest[digest>] user[alice>]",
		"user/alice user.password user/alice failed",
		"user/alice user.password user/alice ok password[digest>digest]",
		"user/root user.disable user/alice ok disabled[false>true]",
		"user/root user.enable user/alice ok disabled[true>false]",
		"user/root user.update user/alice ok role[user>admin]",
		"anonymous login.fail user/root failed",
		"anonymous login.fail  failed",
		"user/root login.ok user/root ok session[>3]",
		"user/root key.create key/2 ok name[>k3] models[>a] disabled[>false] expires[>never] digest[>digest] user[>alice]",
		"user/root user.delete user/alice ok id[2>] display_name[alice>] role[admin>] disabled[false>] password[digest>] keys[2>]",
		"user/root session.end_all user/root ok ended[>1]",
		"user/root logout user/root ok session[>1]",
		"admin_api user.update user/root ok display_name[root>The Root]",
		"user/root login.ok user/root ok session[>4]",
	}, s.rows(s.token("root"), "limit=1000")[begin:])
}

// The row has what was changed, and who did it from where with which request.
func TestTheRowOfAChangeOfAKey(t *testing.T) {
	s, root, alice := keySite(t)
	created := s.ask(testRequest{call: newKeyCall, body: `{"name":"k"}`, token: alice}).data(t)
	replacer := caddy.NewReplacer()
	replacer.Set("http.request.uuid", "uuid-1")
	ctx := context.WithValue(t.Context(), caddy.ReplacerCtxKey, replacer)
	change := testRequest{call: "PATCH /api/v1/keys/1", body: `{"models":["a"],"from":["192.0.2.0/24"],"disabled":true}`, token: root, peer: "198.51.100.7:1"}
	before := len(s.rows(root, "object=key/1"))

	t.Run("X132 a change of a key by the API has one row with the changed fields and no secret", func(t *testing.T) {
		require.Equal(t, http.StatusOK, s.askIn(ctx, change).status)
		rows := s.ask(testRequest{call: "GET /api/v1/audit?object=key/1", token: root}).data(t)["items"].([]any)
		require.Len(t, rows, before+1)
		row := rows[0].(map[string]any)
		delete(row, "id")
		delete(row, "at")
		assert.Equal(t, map[string]any{
			"actor": "user/root", "role": "root", "address": "198.51.100.7", "request": "uuid-1",
			"action": "key.update", "object": "key/1", "result": "ok",
			"changes": []any{
				map[string]any{"field": "models", "before": "", "after": "a"},
				map[string]any{"field": "from", "before": "", "after": "192.0.2.0/24"},
				map[string]any{"field": "disabled", "before": "false", "after": "true"},
			},
		}, row)
		text := s.auditText(s.people.Store)
		for _, secret := range []string{created["key"].(string), root, alice, password, "argon2"} {
			assert.NotContains(t, text, secret)
		}
	})
}

// A page once had rows of the page before if rows were added in between.
func TestPagesOfTheAuditLogAreStable(t *testing.T) {
	s, root, _ := keySite(t)
	var ids []string
	query := "limit=3"
	for {
		page := s.ask(testRequest{call: "GET /api/v1/audit?" + query, token: root}).data(t)
		for _, item := range page["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		s.token("alice") // adds a row
		if page["next"] == "" {
			break
		}
		query = "limit=3&after=" + page["next"].(string)
	}
	assert.Equal(t, []string{"4", "3", "2", "1"}, ids)

	lines := strings.Split(strings.TrimSpace(s.ask(testRequest{call: "GET /api/v1/audit?format=jsonl&to=2999-01-01", token: root}).body), "\n")
	require.Len(t, lines, 6)
	var oldest struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(lines[5]), &oldest))
	assert.Equal(t, "1", oldest.ID)
}

func TestRowsAreFoundByActorActionObjectAndTime(t *testing.T) {
	s, root, alice := keySite(t)
	s.ask(testRequest{call: newKeyCall, body: `{"name":"k"}`, token: alice})
	for query, want := range map[string]int{
		"actor=user": 3, "actor=user/alice": 2, "actor=user/ali": 0, "actor=us%25": 0, "action=key": 1, "action=key.create": 1, "action=login": 2,
		"object=user": 4, "object=key/1": 1, "from=2999-01-01": 0, "to=2999-01-01": 5, "to=2000-01-01": 0, "actor=user/alice&action=login": 1,
	} {
		assert.Len(t, s.rows(root, query), want, query)
	}
	for _, query := range []string{"from=x", "to=x", "after=x", "after=0", "limit=x", "format=csv"} {
		assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "GET /api/v1/audit?" + query, token: root}).status, query)
	}
}

// Guesses of passwords once could have filled the database.
func TestGuessesDoNotFillTheAuditLog(t *testing.T) {
	s, root, _ := keySite(t)
	guess := func(network int) {
		s.ask(testRequest{call: loginCall, body: credentials("alice", "wrong horse"), peer: fmt.Sprintf("10.0.%d.1:1", network)})
	}
	for range 50 {
		guess(0)
	}
	assert.Len(t, s.rows(root, "action=login.fail&limit=1000"), 10, "of one network")
	guess(1)
	rows := s.rows(root, "action=login.fail&limit=1000")
	assert.Equal(t, "anonymous login.fail user/alice failed unrecorded[>40]", rows[len(rows)-1], "another network is not hidden")
	for network := range 250 {
		guess(network)
	}
	assert.Len(t, s.rows(root, "action=login.fail&limit=1000"), 200, "of all networks")
}

// Each change adds a row: a user who changes a key all the time once could have filled the
// database.
func TestUsersCannotFillTheAuditLog(t *testing.T) {
	s := newSite(t, func(a *Accounts) { a.ThrottleOff = false })
	s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	alice, boss := s.token("alice"), s.token("boss")
	change := func(token string, n int) testAnswer {
		return s.ask(testRequest{call: "PUT /api/user/self", body: `{"display_name":"` + strconv.Itoa(n) + `"}`, token: token})
	}
	// The login was the first change. Each six seconds admit one more: this test demanded that the
	// 301st is refused, and failed where 300 changes took longer than that.
	made, answer := 1, change(alice, 1)
	for ; answer.status == http.StatusOK && made < 1000; answer = change(alice, made) {
		made++
	}
	assert.GreaterOrEqual(t, made, 300)
	assert.Equal(t, http.StatusServiceUnavailable, answer.status, answer.body)
	assert.NotEmpty(t, answer.header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, change(boss, 1).status)
}

// unrecorded is a store whose audit log cannot be written.
type unrecorded struct {
	aigateway.Store
	aigateway.AuditLog
}

func (unrecorded) Audit(context.Context, aigateway.AuditEntry) error { return errOutage }

// A failed login is no change: it stays a failed login if its row cannot be written.
func TestAWrongPasswordIsWrongWithoutItsRow(t *testing.T) {
	s, _, _ := keySite(t)
	s.people.Store = unrecorded{s.people.Store, s.people.Store.(aigateway.AuditLog)}
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: loginCall, body: credentials("alice", "wrong horse")}).status)
	assert.Equal(t, 1, s.logs.FilterMessage("recording a failed login").Len())
}
