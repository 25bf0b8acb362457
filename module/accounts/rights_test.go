package accounts

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/capture"
)

// right is a row of the table of rights: the statuses of a call without a login, of a user who
// asks for what is another's, of the administrator of a team whose member the other is, and of an
// administrator who asks for the same. A user with the role root gets the answers of
// administrators, but for those of onlyRoots. What is of the team has a table of its own.
type right struct {
	call                         string
	stranger, other, lead, admin int
}

// onlyRoots are the calls that administrators may not make.
var onlyRoots = []string{"GET /api/v1/audit", "GET /api/v1/configuration/caddyfile"}

// The things in the calls belong to the user victim, whose ID is 3. Things that do not exist
// get the same answer as those of others.
var rightsOf = []right{
	{"GET /api/openapi.json", 200, 200, 200, 200},
	{"POST /api/user/login", 401, 401, 401, 401},
	{"POST /api/user/register", 403, 403, 403, 403},
	{"GET /api/user/logout", 200, 200, 200, 200},
	{"POST /api/user/logout", 200, 200, 200, 200},
	{"GET /api/user/self", 401, 200, 200, 200},
	{"PUT /api/user/self", 401, 200, 200, 200},
	{"GET /api/user/", 401, 403, 403, 200},
	{"POST /api/user/", 401, 403, 403, 200},
	{"PUT /api/user/", 401, 403, 403, 200},
	{"GET /api/user/search", 401, 403, 403, 200},
	{"POST /api/user/manage", 401, 403, 403, 200},
	{"GET /api/user/{id}", 401, 403, 403, 200},
	{"DELETE /api/user/{id}", 401, 403, 403, 200},
	{"GET /api/token/", 401, 200, 200, 200},
	{"POST /api/token/", 401, 200, 200, 200},
	{"PUT /api/token/", 401, 404, 404, 404},
	{"GET /api/token/search", 401, 200, 200, 200},
	{"GET /api/token/{id}", 401, 404, 404, 404},
	{"DELETE /api/token/{id}", 401, 404, 404, 404},

	{"GET /api/v1/session", 200, 200, 200, 200},
	{"POST /api/v1/session", 401, 401, 401, 401},
	{"DELETE /api/v1/session", 204, 204, 204, 204},
	{"POST /api/v1/registration", 403, 403, 403, 403},
	{"GET /api/v1/signin", 200, 200, 200, 200},
	{"GET /api/v1/signin/{name}", 303, 303, 303, 303},
	{"GET /api/v1/signin/{name}/callback", 303, 303, 303, 303},
	{"GET /api/v1/users", 401, 403, 403, 200},
	{"POST /api/v1/users", 401, 403, 403, 200},
	{"GET /api/v1/users/{name}", 401, 404, 404, 200},
	{"PATCH /api/v1/users/{name}", 401, 404, 404, 200},
	{"DELETE /api/v1/users/{name}", 401, 404, 404, 204},
	{"POST /api/v1/users/{name}/password", 401, 404, 404, 200},
	{"GET /api/v1/users/{name}/sessions", 401, 404, 404, 200},
	{"DELETE /api/v1/users/{name}/sessions", 401, 404, 404, 204},
	{"DELETE /api/v1/users/{name}/sessions/{id}", 401, 404, 404, 204},
	{"GET /api/v1/users/{name}/teams", 401, 404, 404, 200},
	{"GET /api/v1/users/{name}/identities", 401, 403, 403, 200},
	{"POST /api/v1/users/{name}/identities", 401, 403, 403, 200},
	{"DELETE /api/v1/users/{name}/identities", 401, 403, 403, 204},
	{"GET /api/v1/keys", 401, 200, 200, 200},
	{"POST /api/v1/keys", 401, 403, 403, 200},
	{"GET /api/v1/keys/configured", 401, 200, 200, 200},
	{"GET /api/v1/keys/{id}", 401, 404, 404, 200},
	{"PATCH /api/v1/keys/{id}", 401, 404, 404, 200},
	{"DELETE /api/v1/keys/{id}", 401, 404, 404, 204},
	{"GET /api/v1/keys/{id}/refusal", 401, 404, 404, 200},
	{"POST /api/v1/keys/{id}/rotation", 401, 404, 404, 200},
	{"GET /api/v1/usage", 401, 200, 200, 200},
	{"GET /api/v1/usage/savings", 401, 200, 200, 200},
	{"GET /api/v1/records", 401, 200, 200, 200},
	{"GET /api/v1/records/{id}", 401, 404, 404, 200},
	{"GET /api/v1/records/live", 401, 200, 200, 200},
	{"GET /api/v1/records/histogram", 401, 200, 200, 200},
	{"GET /api/v1/records/comparison", 401, 200, 200, 200},
	{"GET /api/v1/limits", 401, 200, 200, 200},
	{"GET /api/v1/audit", 401, 403, 403, 403},
	{"POST /api/v1/device", 401, 404, 404, 404}, // no agents
	{"POST /api/v1/device/answer", 401, 404, 404, 404},
	{"GET /api/v1/captures", 401, 200, 200, 200},
	{"POST /api/v1/captures", 401, 200, 200, 200},
	{"GET /api/v1/captures/{request}", 401, 404, 404, 404}, // administrators included
	{"GET /api/v1/teams", 401, 200, 200, 200},
	{"POST /api/v1/teams", 401, 403, 403, 200},
	{"GET /api/v1/teams/{name}", 401, 404, 404, 200},
	{"PATCH /api/v1/teams/{name}", 401, 403, 403, 200},
	{"DELETE /api/v1/teams/{name}", 401, 403, 403, 204},
	{"GET /api/v1/teams/{name}/members", 401, 404, 404, 200},
	{"PUT /api/v1/teams/{name}/members/{user}", 401, 404, 404, 200},
	{"DELETE /api/v1/teams/{name}/members/{user}", 401, 404, 404, 204},
	{"GET /api/v1/status", 401, 403, 403, 200},
	{"GET /api/v1/targets", 401, 403, 403, 200},
	{"POST /api/v1/targets/probe", 401, 403, 403, 200},
	{"GET /api/v1/mcp", 401, 403, 403, 200},
	{"POST /api/v1/mcp/accept", 401, 403, 403, 200},
	{"GET /api/v1/explain", 401, 403, 403, 200},
	{"GET /api/v1/configuration", 401, 403, 403, 200},
	{"GET /api/v1/configuration/caddyfile", 401, 403, 403, 403},
	{"GET /api/v1/prices", 401, 403, 403, 200},
	{"GET /api/v1/health", 401, 403, 403, 200},
}

// rightsBodies are the bodies of the calls of rightsOf.
var rightsBodies = map[string]string{
	"POST /api/v1/device":        `{"code":"BBBB-BBBB"}`,
	"POST /api/v1/device/answer": `{"code":"BBBB-BBBB","confirm":true}`,
	"POST /api/user/login":       credentials("victim", "wrong horse"),
	"POST /api/user/register":    credentials("new", password),
	"PUT /api/user/self":         `{"display_name":"x"}`,
	"POST /api/user/":            credentials("new", password),
	"PUT /api/user/":             `{"id":3,"display_name":"x"}`,
	"POST /api/user/manage":      `{"username":"victim","action":"disable"}`,
	"POST /api/token/":           `{"name":"mine"}`,
	"PUT /api/token/":            `{"id":1,"name":"stolen"}`,

	"POST /api/v1/session":                    credentials("victim", "wrong horse"),
	"POST /api/v1/registration":               credentials("new", password),
	"POST /api/v1/users":                      credentials("new", password),
	"PATCH /api/v1/users/{name}":              `{"display_name":"x"}`,
	"POST /api/v1/users/{name}/password":      `{"password":"another horse","original_password":"` + password + `"}`,
	"POST /api/v1/users/{name}/identities":    `{"issuer":"proxy","subject":"x"}`,
	"POST /api/v1/keys":                       `{"user":"victim","name":"theirs"}`,
	"PATCH /api/v1/keys/{id}":                 `{"disabled":true}`,
	"POST /api/v1/keys/{id}/rotation":         `{"overlap":"1h"}`,
	"POST /api/v1/teams":                      `{"name":"new"}`,
	"PATCH /api/v1/teams/{name}":              `{"concurrent":1}`,
	"PUT /api/v1/teams/{name}/members/{user}": `{"admin":true}`,
}

// rightsSite returns a site in which victim has a key, a session, a record and a capture, is a
// member of the teams theirs-of-victim and research, and has a key of the latter. The user lead
// administrates research.
func rightsSite(t *testing.T) (s *site, tokens map[string]string, ids *strings.Replacer) {
	capture.Process = capture.New() // many sites would use up the tokens of one
	i := newIssuer(t)
	s = newSite(t, func(a *Accounts) {
		a.Issuers, a.Proxy = []*signin.Issuer{i.settings(nil)}, &signin.Proxy{User: "{http.vars.user}"}
	})
	boss, other, victim := s.user("boss", aigateway.RoleAdmin), s.user("other", aigateway.RoleUser), s.user("victim", aigateway.RoleUser)
	require.Equal(t, []int64{1, 2, 3}, []int64{boss.ID, other.ID, victim.ID})
	s.user("chief", aigateway.RoleRoot)
	session := s.token("victim")
	lead, foreign := s.user("lead", aigateway.RoleUser), s.user("foreign", aigateway.RoleUser)
	tokens = map[string]string{
		"stranger": "", "other": s.token("other"), "lead": s.token("lead"), "foreign": s.token("foreign"), "member": session,
		"admin": s.token("boss"), "root": s.token("chief"),
	}
	for team, members := range map[string][]*aigateway.User{"theirs-of-victim": {victim}, "research": {victim, lead}, "support": {foreign}} {
		require.NoError(t, s.people.Store.Teams().Create(t.Context(), &aigateway.Team{Name: team}))
		for _, user := range members {
			require.NoError(t, s.people.Store.Teams().SetMember(t.Context(), team, user.ID, user != victim, 9))
		}
	}
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/token/", body: `{"name":"victim's"}`, token: session}).status)
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/token/", body: `{"name":"victim's of research","group":"research"}`, token: session}).status)
	header := http.Header{capture.Header: {s.ask(testRequest{call: "POST /api/v1/captures", token: session}).data(t)["token"].(string)}}
	require.NotNil(t, capture.Process.Begin(testRequest{call: "POST /v1/messages", header: header}.request(t.Context()), "req_of_victim"))
	watched := make(chan []accounting.Record)
	close(watched) // so that the stream ends
	s.people.Store = audited{&recorded{
		Store: s.people.Store, IdentityStore: s.people.Store.(aigateway.IdentityStore), records: []accounting.Record{{ID: 3, User: "victim", Limit: "research", Admitted: time.Now()}},
		search: new(accounting.RecordQuery), asked: new(accounting.UsageQuery), watched: watched,
	}, s.people.Store.(aigateway.AuditLog)}
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	s.UseState(shown)
	return s, tokens, strings.NewReplacer("teams/{name}", "teams/theirs-of-victim", "{name}", "victim", "{user}", "victim", "{request}", "req_of_victim")
}

// siteByRights returns a function like rightsSite, for a call that is answered with the status
// want. Calls that change nothing, because they are refused or only read, have one site in
// common: it is the work of most tests to make one.
func siteByRights(t *testing.T) func(t *testing.T, call string, want int) (*site, map[string]string, *strings.Replacer) {
	shared, tokens, names := rightsSite(t)
	captures := capture.Process
	return func(t *testing.T, call string, want int) (*site, map[string]string, *strings.Replacer) {
		reads := strings.HasPrefix(call, "GET ") && !strings.HasSuffix(call, "/logout")
		if !reads && want < http.StatusBadRequest {
			return rightsSite(t)
		}
		capture.Process = captures
		return shared, tokens, names
	}
}

// audited is a store with records and an audit log.
type audited struct {
	*recorded
	aigateway.AuditLog
}

// idIn returns the id that a call of the table has: that of the only key and session of victim is
// 1, that of victim and of the record 3.
func idIn(call string) string {
	if strings.Contains(call, "/api/token/") || strings.Contains(call, "/api/v1/keys/") || strings.Contains(call, "/sessions/{id}") {
		return "1"
	}
	return "3"
}

// Every role, path and method has its row: an operation without a row fails the test.
func TestRightsOfEachRoleAtEachPath(t *testing.T) {
	for _, o := range operations(t) {
		assert.True(t, slices.ContainsFunc(rightsOf, func(r right) bool { return r.call == o.Method+" "+o.Path }), "%s %s has no row", o.Method, o.Path)
	}
	pick := siteByRights(t)
	for _, row := range rightsOf {
		root := row.admin
		if slices.Contains(onlyRoots, row.call) {
			root = http.StatusOK
		}
		for role, want := range map[string]int{"stranger": row.stranger, "other": row.other, "lead": row.lead, "admin": row.admin, "root": root} {
			t.Run(role+" "+strings.NewReplacer("{", "", "}", "").Replace(row.call), func(t *testing.T) {
				s, tokens, names := pick(t, row.call, want)
				if strings.HasPrefix(row.call, "GET /api/v1/signin/") {
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
		"GET /api/v1/users/victim":                "GET /api/v1/users/nobody",
		"DELETE /api/v1/users/victim/sessions/1":  "DELETE /api/v1/users/nobody/sessions/1",
		"GET /api/v1/records/3":                   "GET /api/v1/records/77",
		"GET /api/v1/captures/req_of_victim":      "GET /api/v1/captures/req_none",
		"GET /api/v1/users/victim/teams":          "GET /api/v1/users/nobody/teams",
		"GET /api/v1/users/victim/sessions":       "GET /api/v1/users/nobody/sessions",
		"GET /api/v1/users/victim/identities":     "GET /api/v1/users/nobody/identities",
		"GET /api/v1/keys/1":                      "GET /api/v1/keys/77",
		"GET /api/v1/keys?user=victim":            "GET /api/v1/keys?user=nobody",
		"GET /api/v1/limits?user=victim":          "GET /api/v1/limits?user=nobody",
		"GET /api/v1/keys/configured?user=victim": "GET /api/v1/keys/configured?user=nobody",
		"GET /api/v1/usage?user=victim":           "GET /api/v1/usage?user=nobody",
		"GET /api/v1/records/live?user=victim":    "GET /api/v1/records/live?user=nobody",

		"GET /api/v1/records/histogram?user=victim":  "GET /api/v1/records/histogram?user=nobody",
		"GET /api/v1/records/comparison?user=victim": "GET /api/v1/records/comparison?user=nobody",
	} {
		a, b := s.ask(testRequest{call: theirs, token: tokens["other"]}), s.ask(testRequest{call: none, token: tokens["other"]})
		assert.Equal(t, fmt.Sprint(b.status, b.body), fmt.Sprint(a.status, a.body), theirs)
		assert.GreaterOrEqual(t, a.status, 400, theirs)
	}
}

// rightsInTeam are the statuses of calls about the team research: of an administrator of another
// team, of a member, of an administrator of the team, and of one of the gateway. The key 2 is
// one of the team, and belongs to victim; 1 is not.
var rightsInTeam = []struct {
	call, body                   string
	foreign, member, lead, admin int
}{
	{"GET /api/v1/teams/research", "", 404, 200, 200, 200},
	{"PATCH /api/v1/teams/research", `{"models":[],"budget":"1000/day"}`, 403, 403, 403, 200},
	{"DELETE /api/v1/teams/research?keys=delete", "", 403, 403, 403, 204},
	{"GET /api/v1/teams/research/members", "", 404, 403, 200, 200},
	{"PUT /api/v1/teams/research/members/other", `{"admin":true}`, 404, 403, 200, 200},
	{"DELETE /api/v1/teams/research/members/victim?keys=delete", "", 404, 403, 204, 204},
	{"GET /api/v1/keys?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/keys?user=victim", "", 403, 200, 403, 200},
	{"POST /api/v1/keys", `{"user":"victim","name":"new","limit":"research"}`, 403, 200, 200, 200}, // member is victim
	{"POST /api/v1/keys", `{"name":"own","limit":"research"}`, 403, 200, 200, 409},
	{"POST /api/v1/keys", `{"user":"lead","name":"unbound"}`, 403, 403, 200, 200}, // with the limit of the configuration
	{"POST /api/v1/keys", `{"user":"lead","name":"unbound","limit":"large"}`, 403, 403, 403, 200},
	{"POST /api/v1/keys", `{"user":"other","name":"outside","limit":"research"}`, 403, 403, 409, 409},
	{"POST /api/v1/keys", `{"user":"boss","name":"above","limit":"research"}`, 403, 403, 409, 409},
	{"POST /api/v1/keys", `{"user":"nobody","name":"new","limit":"research"}`, 403, 403, 404, 404}, // only who may add members learns it
	{"GET /api/v1/keys/2", "", 404, 200, 200, 200},
	{"PATCH /api/v1/keys/2", `{"disabled":true,"models":["a"]}`, 404, 200, 200, 200},
	{"PATCH /api/v1/keys/2", `{"limit":""}`, 404, 403, 403, 200},
	{"PATCH /api/v1/keys/2", `{"limit":"large"}`, 404, 403, 403, 200},
	{"DELETE /api/v1/keys/2", "", 404, 204, 204, 204},
	{"GET /api/v1/keys/2/refusal", "", 404, 200, 200, 200},
	{"GET /api/v1/keys/1/refusal", "", 404, 200, 404, 200},
	{"POST /api/v1/keys/2/rotation", `{"overlap":"24h"}`, 404, 200, 200, 200},
	{"POST /api/v1/keys/1/rotation", `{}`, 404, 200, 404, 200},
	{"PATCH /api/v1/keys/2", `{"budget":"5/month","requests":"60/1m"}`, 404, 403, 200, 200}, // rules: whoever makes them may end them
	{"PATCH /api/v1/keys/2", `{"tags":["team=search"]}`, 404, 403, 200, 200},
	{"PATCH /api/v1/keys/1", `{"budget":""}`, 404, 403, 404, 200},
	{"POST /api/v1/keys", `{"name":"cheap","budget":"5/month"}`, 200, 200, 200, 200}, // a rule of a new key bounds it alone
	{"POST /api/v1/keys", `{"name":"fast","priority":"high"}`, 403, 403, 403, 200},   // which bounds nothing
	{"PATCH /api/v1/keys/2", `{"priority":"high"}`, 404, 403, 403, 200},
	{"POST /api/v1/keys", `{"name":"tagged","tags":["team=search"]}`, 403, 403, 403, 200},
	{"POST /api/v1/keys", `{"name":"tagged","limit":"research","tags":["team=search"]}`, 403, 403, 200, 409},
	{"PATCH /api/v1/users/victim", `{"budget":"5/month"}`, 404, 403, 404, 200},
	{"PATCH /api/v1/users/victim", `{"concurrent":0}`, 404, 403, 404, 200},
	{"GET /api/v1/keys/1", "", 404, 200, 404, 200},
	{"PATCH /api/v1/keys/1", `{"limit":"research"}`, 404, 403, 404, 200},
	{"DELETE /api/v1/keys/1", "", 404, 204, 404, 204},
	{"GET /api/token/2", "", 404, 200, 404, 404},
	{"PUT /api/token/", `{"id":2,"status":2}`, 404, 200, 404, 404},
	{"PUT /api/token/", `{"id":2,"group":""}`, 404, 403, 404, 404},
	{"POST /api/token/", `{"name":"own","group":"research"}`, 403, 200, 200, 409},
	{"GET /api/v1/usage?team=research&by=user", "", 404, 403, 200, 200},
	{"GET /api/v1/usage/savings?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/usage/savings?user=victim", "", 403, 200, 403, 200},
	{"GET /api/v1/records?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/records/3?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/records/live?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/records/histogram?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/records/comparison?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/limits?team=research", "", 404, 403, 200, 200},
	{"GET /api/v1/records/3", "", 404, 200, 404, 200},
	{"GET /api/v1/usage?user=victim", "", 403, 200, 403, 200},
	{"GET /api/v1/limits?user=victim", "", 403, 200, 403, 200},
}

func TestRightsInATeam(t *testing.T) {
	pick := siteByRights(t)
	for _, row := range rightsInTeam {
		for role, want := range map[string]int{"stranger": 401, "foreign": row.foreign, "member": row.member, "lead": row.lead, "admin": row.admin} {
			t.Run(role+" "+row.call+strings.NewReplacer(`"`, " ", "{", "", "}", "", ":", "").Replace(row.body), func(t *testing.T) {
				s, tokens, _ := pick(t, row.call, want)
				answer := s.ask(testRequest{call: row.call, body: row.body, token: tokens[role]})
				assert.Equal(t, want, answer.status, answer.body)
				if want == http.StatusNotFound && role == "foreign" {
					none := s.ask(testRequest{call: strings.NewReplacer("research", "none", "/2", "/77", "/1", "/77").Replace(row.call), body: strings.ReplaceAll(row.body, `"id":2`, `"id":77`), token: tokens[role]})
					assert.Equal(t, answer.body, none.body, "the answer shows that the team or the key exists")
				}
			})
		}
	}
}

// A team that does not exist and one of others are the same to those who ask for keys of it.
func TestNobodyLearnsOfATeamByMakingKeys(t *testing.T) {
	s, tokens, _ := rightsSite(t)
	for call, field := range map[string]string{"POST /api/token/": `"group":`, "POST /api/v1/keys": `"limit":`, "POST /api/v1/keys?": `"user":"victim","limit":`} {
		ask := func(team string) testAnswer {
			return s.ask(testRequest{call: call, body: `{"name":"x",` + field + `"` + team + `"}`, token: tokens["foreign"]})
		}
		theirs, none := ask("research"), ask("none")
		assert.Equal(t, http.StatusForbidden, theirs.status)
		assert.Equal(t, none.body, theirs.body, call)
	}
}

// The administrator of a team was refused for the role of a user outside of the team, which showed
// who administrates the gateway.
func TestNobodyLearnsOfARoleByMakingKeys(t *testing.T) {
	s, tokens, _ := rightsSite(t)
	ask := func(user string) testAnswer {
		return s.ask(testRequest{call: "POST /api/v1/keys", body: `{"user":"` + user + `","name":"x","limit":"research"}`, token: tokens["lead"]})
	}
	user := ask("other")
	assert.Equal(t, problem(409, "the user is no member of the team"), user.body)
	for _, above := range []string{"boss", "chief"} {
		assert.Equal(t, user.status, ask(above).status, above)
		assert.Equal(t, user.body, ask(above).body, above)
	}
}

// Administrators end the sessions of users whom they manage, and no others.
func TestAdministratorsEndTheSessionsOfUsersWhomTheyManage(t *testing.T) {
	for _, c := range []struct {
		by, of string
		status int
	}{
		{"admin", "user", 204}, {"admin", "admin", 204}, {"admin", "admin2", 403}, {"admin", "root", 403}, {"root", "root2", 204}, {"user", "user", 204}, {"user", "user2", 404},
	} {
		s := hierarchy(t)
		theirs, by := s.token(c.of), s.token(c.by)
		path := "/api/v1/users/" + c.of + "/sessions"
		read := s.ask(testRequest{call: "GET " + path, token: by}).status
		assert.Equal(t, c.status, s.ask(testRequest{call: "DELETE " + path, token: by}).status, c)
		assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "GET /api/user/self", token: by}).status, "the own session stays")
		after := http.StatusUnauthorized
		if c.status != http.StatusNoContent {
			assert.Equal(t, c.status, read, c)
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
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/keys?limits=true", token: tokens["admin"]}).body, `"limits":[`)
	assert.Equal(t, aigateway.LimitQuery{Key: "key_1", Most: 500}, *query)
	assert.NotContains(t, s.ask(testRequest{call: "GET /api/v1/keys", token: tokens["admin"]}).body, `"limits"`)
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/token/", body: `{"name":"mine"}`, token: tokens["other"]}).status)
	assert.Contains(t, s.ask(testRequest{call: "GET /api/token/?limits=true", token: tokens["other"]}).body, `"limits":[`)
	assert.Equal(t, aigateway.LimitQuery{Key: "key_3", Own: true, Most: 500}, *query, "limits of groups show the use of others")
}
