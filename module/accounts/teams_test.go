package accounts

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

func TestFieldsOfTeamsAreChecked(t *testing.T) {
	s := newSite(t, nil)
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	s.user("root", aigateway.RoleRoot)
	root := s.token("root")
	for body, want := range map[string]string{
		`{}`:                                    "name is required",
		`{"name":"a b"}`:                        "name must be 1 to 64 letters",
		`{"name":"a","models":[""]}`:            "models: ",
		`{"name":"a","models":"a"}`:             "models must be an array of strings",
		`{"name":"a","requests":"60"}`:          "requests: a rate is a number",
		`{"name":"a","tokens":5}`:               "tokens must be a string",
		`{"name":"a","concurrent":-1}`:          "concurrent must be",
		`{"name":"a","priority":"urgent"}`:      "a priority is high, normal or low, not 'urgent'",
		`{"name":"a","budget":"50"}`:            "budget must be an amount and a period",
		`{"name":"a","budget":"50/month euro"}`: "budget must be an amount and a period",
	} {
		answer := s.ask(testRequest{call: "POST /api/v1/teams", body: body, token: root})
		assert.Equal(t, http.StatusBadRequest, answer.status, body)
		assert.Contains(t, answer.body, want, body)
	}
	answer := s.ask(testRequest{call: "POST /api/v1/teams", body: `{"name":"a","models":["gpt-*"],"requests":"60/1m","tokens":"5/1h30m","concurrent":3,"budget":"0.5/30d EUR soft","priority":"low"}`, token: root})
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	data := answer.data(t)
	delete(data, "created")
	assert.Equal(t, map[string]any{
		"name": "a", "models": []any{"gpt-*"}, "requests": "60/1m", "tokens": "5/1h30m", "concurrent": 3.0, "budget": "0.5/30d EUR soft", "priority": "low",
		"configured": false, "admin": true,
	}, data)
	answer = s.ask(testRequest{call: "PATCH /api/v1/teams/a", body: `{"tokens":"","concurrent":0,"budget":"","priority":""}`, token: root})
	assert.Contains(t, answer.body, `"models":["gpt-*"],"requests":"60/1m","tokens":"","concurrent":0,"budget":"","priority":""`)
}

// Rules of the store beside those of the configuration would be a second truth.
func TestTheRulesOfAConfiguredTeamAreThoseOfTheConfiguration(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	root := s.token("root")
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/v1/teams", body: `{"name":"small","concurrent":3}`, token: root}).status, "nothing is known about the limits")
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/teams/small", token: root}).body, `"concurrent":0,"budget":"","priority":"","configured":true`)
	for _, body := range []string{`{"requests":"1/1m"}`, `{"tokens":"1/1m"}`, `{"concurrent":0}`, `{"budget":""}`, `{"priority":""}`} {
		assert.Equal(t, http.StatusConflict, s.ask(testRequest{call: "PATCH /api/v1/teams/small", body: body, token: root}).status, body)
	}
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "PATCH /api/v1/teams/small", body: `{"models":["a"]}`, token: root}).status)
}

// Members could make any number of keys, each with the whole limit of the team.
func TestATeamWhoseLimitMembersCouldEvadeIsRefused(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	root := s.token("root")
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/v1/teams", body: `{"name":"large"}`, token: root}).status, "nothing is known about the limits")
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	for _, ask := range []testRequest{{call: "PATCH /api/v1/teams/large", body: `{"models":["a"]}`}, {call: "POST /api/v1/teams", body: `{"name":"large"}`}} {
		ask.token = root
		answer := s.ask(ask)
		assert.Equal(t, http.StatusBadRequest, answer.status, ask.call)
		assert.Contains(t, answer.body, "the limit 'large' counts each key, customer or tag alone, and users can have many: name one per user, or within one", ask.call)
	}
}

func TestMembersMakeKeysOfTheirTeam(t *testing.T) {
	s := newSite(t, func(a *Accounts) { a.KeyLimit = "small" })
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	root, ada := s.user("root", aigateway.RoleRoot), s.user("ada", aigateway.RoleUser)
	for _, ask := range []testRequest{
		{call: "POST /api/v1/teams", body: `{"name":"research"}`}, {call: "PUT /api/v1/teams/research/members/Ada", body: `{"admin":true}`},
		{call: "PUT /api/v1/teams/research/members/root", body: `{}`},
	} {
		ask.token = s.token("root")
		answer := s.ask(ask)
		require.Equal(t, http.StatusOK, answer.status, answer.body)
	}
	adas := s.token("ada")
	for _, of := range [][2]string{{`{"name":"a"}`, "small"}, {`{"name":"b","group":""}`, "small"}, {`{"name":"c","group":"research"}`, "research"}} {
		assert.Contains(t, s.ask(testRequest{call: "POST /api/token/", body: of[0], token: adas}).body, `"group":"`+of[1]+`"`)
	}
	for _, view := range []string{`{"name":"research","models":[],"requests":"","tokens":"","concurrent":0,"budget":"","priority":"","configured":false,"admin":true,`, `"total":1`} {
		assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/teams?search=RESEARCH", token: adas}).body, view)
		assert.NotContains(t, s.ask(testRequest{call: "GET /api/v1/teams?search=x", token: adas}).body, view)
	}
	// Within a team, its administrator has no rights over those of the gateway.
	require.NoError(t, s.people.Store.CreateKey(t.Context(), &aigateway.StoredKey{UserID: root.ID, Name: "root's", Bounds: aigateway.KeyBounds{Limit: "research"}}, 9))
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/keys?team=research", token: adas}).body, "root's")
	assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: "DELETE /api/v1/keys/4", token: adas}).status)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "PATCH /api/v1/keys/3", body: `{"name":"renamed"}`, token: adas}).status, ada.Name)

	answer := s.ask(testRequest{call: "DELETE /api/v1/teams/research", token: s.token("root")})
	assert.Equal(t, problem(409, "there are keys of the team: delete them first, or with keys=delete (--delete-keys of the command)"), answer.body)
	assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "DELETE /api/v1/teams/research?keys=yes", token: s.token("root")}).status)
	assert.Equal(t, http.StatusNoContent, s.ask(testRequest{call: "DELETE /api/v1/teams/research?keys=delete", token: s.token("root")}).status)
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET /api/v1/keys?team=research", token: adas}).status, "the right ended with the team")
}

// The usage of an earlier team with the same name, and of its members elsewhere, is not that of
// the team.
func TestAdministratorsOfATeamSeeItsUsageAlone(t *testing.T) {
	s, tokens, _ := rightsSite(t)
	reader := s.people.Store.(audited).recorded
	team, err := s.people.Store.Teams().Team(t.Context(), "research")
	require.NoError(t, err)
	for role, from := range map[string]time.Time{"lead": team.Created, "admin": time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)} {
		s.ask(testRequest{call: "GET /api/v1/usage?team=research&from=2020-01-01T00:00:00Z&user=victim", token: tokens[role]})
		assert.Equal(t, []string{"research"}, reader.asked.Limits)
		assert.Equal(t, "victim", reader.asked.Only[accounting.ByUser])
		assert.Equal(t, from, reader.asked.From, role)
		s.ask(testRequest{call: "GET /api/v1/records?team=research&from=2020-01-01T00:00:00Z&limit_name=large", token: tokens[role]})
		assert.Equal(t, accounting.RecordQuery{From: from, Limit: usualRecords, RecordFilter: accounting.RecordFilter{KeyLimit: "research"}}, *reader.search, role)
	}
}
