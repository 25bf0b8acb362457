package accounts

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/capture"
)

// right is a row of the table of rights: the statuses of a call without a login, of a user who
// asks for what is another's, and of an administrator who asks for the same. A user with the role
// root gets the answers of administrators, but for those of onlyRoots.
type right struct {
	call                   string
	stranger, other, admin int
}

// onlyRoots are the calls that administrators may not make.
var onlyRoots = []string{"GET /api/audit"}

// The things in the calls belong to the user victim, whose ID is 3. Things that do not exist
// get the same answer as those of others.
var rightsOf = []right{
	{"GET /api/openapi.json", 200, 200, 200},
	{"GET /api/signin", 200, 200, 200},
	{"GET /api/signin/{name}", 303, 303, 303},
	{"GET /api/signin/{name}/callback", 303, 303, 303},
	{"POST /api/user/login", 401, 401, 401},
	{"POST /api/user/register", 403, 403, 403},
	{"GET /api/user/logout", 200, 200, 200},
	{"POST /api/user/logout", 200, 200, 200},
	{"GET /api/session", 200, 200, 200},
	{"GET /api/user/self", 401, 200, 200},
	{"PUT /api/user/self", 401, 200, 200},
	{"GET /api/user/sessions", 401, 200, 200},
	{"DELETE /api/user/sessions", 401, 200, 200},
	{"DELETE /api/user/sessions/{id}", 401, 404, 404},
	{"GET /api/user/", 401, 403, 200},
	{"POST /api/user/", 401, 403, 200},
	{"PUT /api/user/", 401, 403, 200},
	{"GET /api/user/search", 401, 403, 200},
	{"POST /api/user/manage", 401, 403, 200},
	{"GET /api/user/{id}", 401, 403, 200},
	{"DELETE /api/user/{id}", 401, 403, 200},
	{"GET /api/user/{id}/sessions", 401, 403, 200},
	{"DELETE /api/user/{id}/sessions", 401, 403, 200},
	{"GET /api/user/{id}/identities", 401, 403, 200},
	{"POST /api/user/{id}/identities", 401, 403, 200},
	{"DELETE /api/user/{id}/identities", 401, 403, 200},
	{"GET /api/token/", 401, 200, 200},
	{"POST /api/token/", 401, 200, 200},
	{"PUT /api/token/", 401, 404, 404},
	{"GET /api/token/search", 401, 200, 200},
	{"GET /api/token/{id}", 401, 404, 404},
	{"DELETE /api/token/{id}", 401, 404, 404},
	{"GET /api/usage", 401, 200, 200},
	{"GET /api/usage/records", 401, 200, 200},
	{"GET /api/usage/records/{id}", 401, 404, 200},
	{"GET /api/usage/records/live", 401, 200, 200},
	{"GET /api/limits", 401, 200, 200},
	{"GET /api/audit", 401, 403, 403},
	{"GET /api/captures", 401, 200, 200},
	{"POST /api/captures", 401, 200, 200},
	{"GET /api/captures/{name}", 401, 404, 404}, // administrators included
	{"GET /api/keys", 401, 403, 200},
	{"POST /api/keys", 401, 403, 200},
	{"GET /api/keys/configured", 401, 200, 200},
	{"GET /api/keys/{id}", 401, 403, 200},
	{"PATCH /api/keys/{id}", 401, 403, 200},
	{"DELETE /api/keys/{id}", 401, 403, 200},
	{"GET /api/status", 401, 403, 200},
	{"GET /api/targets", 401, 403, 200},
	{"POST /api/targets/probe", 401, 403, 200},
	{"GET /api/explain", 401, 403, 200},
	{"GET /api/configuration", 401, 403, 200},
	{"GET /api/prices", 401, 403, 200},
	{"GET /api/health", 401, 403, 200},
}

// rightsBodies are the bodies of the calls of rightsOf.
var rightsBodies = map[string]string{
	"POST /api/user/login":           credentials("victim", "wrong horse"),
	"POST /api/user/register":        credentials("new", password),
	"PUT /api/user/self":             `{"display_name":"x"}`,
	"POST /api/user/":                credentials("new", password),
	"PUT /api/user/":                 `{"id":3,"display_name":"x"}`,
	"POST /api/user/manage":          `{"username":"victim","action":"disable"}`,
	"POST /api/user/{id}/identities": `{"issuer":"proxy","subject":"x"}`,
	"POST /api/token/":               `{"name":"mine"}`,
	"PUT /api/token/":                `{"id":1,"name":"stolen"}`,
	"POST /api/keys":                 `{"user":"victim","name":"theirs"}`,
	"PATCH /api/keys/{id}":           `{"disabled":true}`,
}

// rightsSite returns a site in which victim has a key, a session, a record and a capture.
func rightsSite(t *testing.T) (s *site, tokens map[string]string, ids *strings.Replacer) {
	i := newIssuer(t)
	s = newSite(t, func(a *Accounts) {
		a.Issuers, a.Proxy = []*signin.Issuer{i.settings(nil)}, &signin.Proxy{User: "{http.vars.user}"}
	})
	boss, other, victim := s.user("boss", aigateway.RoleAdmin), s.user("other", aigateway.RoleUser), s.user("victim", aigateway.RoleUser)
	require.Equal(t, []int64{1, 2, 3}, []int64{boss.ID, other.ID, victim.ID})
	s.user("chief", aigateway.RoleRoot)
	session := s.token("victim")
	tokens = map[string]string{"stranger": "", "other": s.token("other"), "admin": s.token("boss"), "root": s.token("chief")}
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/token/", body: `{"name":"victim's"}`, token: session}).status)
	header := http.Header{capture.Header: {s.ask(testRequest{call: "POST /api/captures", token: session}).data(t)["token"].(string)}}
	require.NotNil(t, capture.Process.Begin(testRequest{call: "POST /v1/messages", header: header}.request(t.Context()), "req_of_victim"))
	watched := make(chan []accounting.Record)
	close(watched) // so that the stream ends
	s.store = audited{&recorded{
		Store: s.store, IdentityStore: s.store.(aigateway.IdentityStore), records: []accounting.Record{{ID: 3, User: "victim", Admitted: victim.Created}},
		search: new(accounting.RecordQuery), asked: new(accounting.UsageQuery), watched: watched,
	}, s.store.(aigateway.AuditLog)}
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	s.UseViews(shown)
	return s, tokens, strings.NewReplacer("{name}", "req_of_victim")
}

// audited is a store with records and an audit log.
type audited struct {
	*recorded
	aigateway.AuditLog
}

// idIn returns the id that a call of the table has: that of the only key and session of victim is
// 1, that of victim and of the record 3.
func idIn(call string) string {
	if strings.Contains(call, "/api/token/") || strings.Contains(call, "/api/keys/") || strings.Contains(call, "/sessions/{id}") {
		return "1"
	}
	return "3"
}

// Every role, path and method has its row: an operation without a row fails the test.
func TestRightsOfEachRoleAtEachPath(t *testing.T) {
	for _, o := range operations(t) {
		assert.True(t, slices.ContainsFunc(rightsOf, func(r right) bool { return r.call == o.Method+" "+o.Path }), "%s %s has no row", o.Method, o.Path)
	}
	for _, row := range rightsOf {
		root := row.admin
		if slices.Contains(onlyRoots, row.call) {
			root = http.StatusOK
		}
		for role, want := range map[string]int{"stranger": row.stranger, "other": row.other, "admin": row.admin, "root": root} {
			t.Run(role+" "+strings.NewReplacer("{", "", "}", "").Replace(row.call), func(t *testing.T) {
				s, tokens, names := rightsSite(t)
				if strings.HasPrefix(row.call, "GET /api/signin/") {
					names = strings.NewReplacer("{name}", "company")
				}
				call := names.Replace(strings.ReplaceAll(row.call, "{id}", idIn(row.call)))
				if strings.HasSuffix(call, "/probe") {
					call += "?provider=p"
				} else if strings.HasSuffix(call, "/explain") {
					call += "?model=a"
				}
				answer := s.ask(testRequest{call: call, body: rightsBodies[row.call], token: tokens[role]})
				assert.Equal(t, want, answer.status, answer.body)
				if role == "stranger" || role == "other" || want >= http.StatusForbidden {
					assert.NotContains(t, answer.body, "victim", "the answer shows that it exists")
				}
			})
		}
	}
}

// A user finds out nothing by comparing the answers for what is another's and for what does not
// exist.
func TestWhatIsOfOthersIsAnsweredAsWhatDoesNotExist(t *testing.T) {
	s, tokens, _ := rightsSite(t)
	for theirs, none := range map[string]string{
		"GET /api/token/1":                        "GET /api/token/77",
		"DELETE /api/token/1":                     "DELETE /api/token/77",
		"DELETE /api/user/sessions/1":             "DELETE /api/user/sessions/77",
		"GET /api/usage/records/3":                "GET /api/usage/records/77",
		"GET /api/captures/req_of_victim":         "GET /api/captures/req_none",
		"GET /api/user/3/sessions":                "GET /api/user/77/sessions",
		"GET /api/keys/1":                         "GET /api/keys/77",
		"GET /api/keys?user=victim":               "GET /api/keys?user=nobody",
		"GET /api/limits?user=victim":             "GET /api/limits?user=nobody",
		"GET /api/keys/configured?user=victim":    "GET /api/keys/configured?user=nobody",
		"GET /api/usage?user=victim":              "GET /api/usage?user=nobody",
		"GET /api/usage/records/live?user=victim": "GET /api/usage/records/live?user=nobody",
	} {
		a, b := s.ask(testRequest{call: theirs, token: tokens["other"]}), s.ask(testRequest{call: none, token: tokens["other"]})
		assert.Equal(t, fmt.Sprint(b.status, b.body), fmt.Sprint(a.status, a.body), theirs)
		assert.GreaterOrEqual(t, a.status, 400, theirs)
	}
}

// Administrators end the sessions of users whom they manage, and no others.
func TestAdministratorsEndTheSessionsOfUsersWhomTheyManage(t *testing.T) {
	for _, c := range []struct {
		by     string
		of     int
		status int
	}{
		{"admin", userID, 200}, {"admin", adminID, 200}, {"admin", otherAdminID, 403}, {"admin", rootID, 403}, {"root", otherRootID, 200},
	} {
		s := hierarchy(t)
		victim := []string{"root", "root2", "admin", "admin2", "user"}[c.of-1]
		theirs, by := s.token(victim), s.token(c.by)
		path := fmt.Sprintf("/api/user/%d/sessions", c.of)
		assert.Equal(t, c.status, s.ask(testRequest{call: "GET " + path, token: by}).status, c)
		assert.Equal(t, c.status, s.ask(testRequest{call: "DELETE " + path, token: by}).status, c)
		assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "GET /api/user/self", token: by}).status, "the own session stays")
		after := http.StatusUnauthorized
		if c.status != http.StatusOK {
			after = http.StatusOK
		}
		assert.Equal(t, after, s.ask(testRequest{call: "GET /api/user/self", token: theirs}).status, c)
	}
}

// A table of keys shows what is left of each, without a request for each key.
func TestListsOfKeysHaveWhatIsLeft(t *testing.T) {
	s, tokens, _ := rightsSite(t)
	query := new(aigateway.LimitQuery)
	s.UseLimits(limitsOf{query})
	assert.Contains(t, s.ask(testRequest{call: "GET /api/keys?limits=true", token: tokens["admin"]}).body, `"limits":[`)
	assert.Equal(t, aigateway.LimitQuery{Key: "key_1", Most: largestStates}, *query)
	assert.NotContains(t, s.ask(testRequest{call: "GET /api/keys", token: tokens["admin"]}).body, `"limits"`)
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/token/", body: `{"name":"mine"}`, token: tokens["other"]}).status)
	assert.Contains(t, s.ask(testRequest{call: "GET /api/token/?limits=true", token: tokens["other"]}).body, `"limits":[`)
	assert.Equal(t, aigateway.LimitQuery{Key: "key_2", Own: true, Most: largestStates}, *query, "limits of groups show the use of others")
}
