package accounts

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/reports"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// limitsOf answers each query with the same state.
type limitsOf struct{ asked *aigateway.LimitQuery }

func (l limitsOf) Limits(_ context.Context, q aigateway.LimitQuery) (aigateway.LimitPage, error) {
	*l.asked = q
	return aigateway.LimitPage{Next: ">alice key_1", States: []aigateway.LimitState{{
		Limit: "small", Per: aigateway.PerUser, Subject: "alice", Rule: "budget", Period: "month", Amount: 5_000_000,
		Used: 1_500_001, Reserved: 1, Left: 3_499_999, Currency: "USD", Renews: new(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)),
	}}}, nil
}

func (limitsOf) LimitNames() []string { return []string{"large", "small"} }

// The limit large counts each key alone.
func (limitsOf) CheckTeam(t *aigateway.Team) error {
	if t.Name != "large" {
		return nil
	}
	return aigateway.CheckChosen([]*aigateway.Limit{{Name: "large", Per: aigateway.PerKey, LimitRules: aigateway.LimitRules{Concurrent: 1}}})
}

func (limitsOf) Unusable(string) error { return nil }

func (limitsOf) CheckKey(*aigateway.Key) error { return nil }

func (limitsOf) CheckUser(string, *aigateway.Limit) error { return nil }

// Every request with such a key got 403, and only the command knew beforehand.
func TestKeysWithAnUndefinedLimitAreRefused(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	root := s.token("root")
	ask := func(call, body string) testAnswer { return s.ask(testRequest{call: call, body: body, token: root}) }
	const sentence = "the limit 'gold' is not defined; the limits of the configuration are: large, small"

	old := ask(newKeyCall, `{"name":"old","group":"gold"}`)
	require.Equal(t, http.StatusOK, old.status, "nothing is known about the limits")
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})

	refused := ask(newKeyCall, `{"name":"k","group":"gold"}`)
	assert.Equal(t, http.StatusBadRequest, refused.status)
	assert.JSONEq(t, failure("group: "+sentence), refused.body)
	refused = s.admin("POST /api/v1/keys", `{"user":"root","name":"k","limit":"gold"}`)
	assert.Equal(t, http.StatusBadRequest, refused.status)
	assert.JSONEq(t, problem(400, "limit: "+sentence), refused.body)

	for _, change := range []struct {
		body   string
		status int
		group  string
	}{
		{`{"id":1,"name":"same","group":"gold"}`, http.StatusOK, "gold"},
		{`{"id":1,"name":"absent"}`, http.StatusOK, "gold"},
		{`{"id":1,"group":"silver"}`, http.StatusBadRequest, "gold"},
		{`{"id":1,"group":"small"}`, http.StatusOK, "small"},
		{`{"id":1,"group":"gold"}`, http.StatusBadRequest, "small"},
		{`{"id":1,"group":""}`, http.StatusOK, ""},
	} {
		assert.Equal(t, change.status, ask(changeCall, change.body).status, change.body)
		assert.Equal(t, change.group, ask("GET /api/token/1", "").data(t)["group"], change.body)
	}
	assert.Equal(t, "large", s.admin("POST /api/v1/keys", `{"user":"root","name":"k","limit":"large"}`).data(t)["limit"])
}

func TestUsersAskForTheirOwnLimitsAlone(t *testing.T) {
	s := newSite(t, nil)
	asked := new(aigateway.LimitQuery)
	s.UseLimits(limitsOf{asked})
	s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	for _, test := range []struct {
		who, call string
		status    int
		want      aigateway.LimitQuery
	}{
		{"alice", "GET /api/v1/limits", http.StatusOK, aigateway.LimitQuery{User: "alice", Own: true, Most: usualStates}},
		{"alice", "GET /api/v1/limits?user=Alice&key=key_9&limit=9999", http.StatusOK, aigateway.LimitQuery{User: "alice", Key: "key_9", Own: true, Most: reports.LargestStates}},
		{"alice", "GET /api/v1/limits?user=boss", http.StatusForbidden, aigateway.LimitQuery{}},
		{"boss", "GET /api/v1/limits?user=alice&name=small&after=x", http.StatusOK, aigateway.LimitQuery{User: "alice", Limit: "small", After: "x", Most: usualStates}},
		{"boss", "GET /api/v1/limits?limit=-1", http.StatusOK, aigateway.LimitQuery{Most: 1}},
		{"boss", "GET /api/v1/limits?limit=x", http.StatusBadRequest, aigateway.LimitQuery{}},
	} {
		*asked = aigateway.LimitQuery{}
		assert.Equal(t, test.status, s.ask(testRequest{call: test.call, token: s.token(test.who)}).status, test.call)
		assert.Equal(t, test.want, *asked, test.call)
	}
	assert.JSONEq(t, `{"next":">alice key_1","items":[{"limit":"small","per":"user","subject":"alice","rule":"budget",
		"period":"month","amount":5000000,"used":1500001,"reserved":1,"left":3499999,"currency":"USD","soft":false,"renews_at":"2026-12-01T00:00:00Z"}]}`,
		s.ask(testRequest{call: "GET /api/v1/limits", token: s.token("alice")}).body)
}

// usedUp answers each query with a rule of which nothing is left.
type usedUp struct {
	limitsOf
	rule aigateway.LimitState
}

func (l usedUp) Limits(context.Context, aigateway.LimitQuery) (aigateway.LimitPage, error) {
	return aigateway.LimitPage{States: []aigateway.LimitState{l.rule}}, nil
}

func (usedUp) CheckTeam(*aigateway.Team) error { return nil }

// The reason of a refusal had the use of the whole team, and of the whole gateway, for each member.
func TestUsersDoNotSeeTheUseOfOthersInTheReasonOfARefusal(t *testing.T) {
	s := newSite(t, nil)
	s.UseLimits(usedUp{})
	s.user("root", aigateway.RoleRoot)
	root := s.token("root")
	ask := func(call, body string) testAnswer {
		answer := s.ask(testRequest{call: call, body: body, token: root})
		require.Less(t, answer.status, 300, answer.body)
		return answer
	}
	ask("POST /api/v1/teams", `{"name":"research"}`)
	for name, admin := range map[string]string{"member": "false", "lead": "true"} {
		s.user(name, aigateway.RoleUser)
		ask("PUT /api/v1/teams/research/members/"+name, `{"admin":`+admin+`}`)
	}
	made := ask("POST /api/v1/keys", `{"user":"member","name":"hers","limit":"research"}`).data(t)
	call := fmt.Sprint("GET /api/v1/keys/", made["id"], "/refusal")
	all := []string{"lead", "member", "root"}
	for _, c := range []struct {
		per   aigateway.Scope
		limit string
		seen  []string
	}{
		{aigateway.PerKey, "own/key", all},
		{aigateway.PerUser, "staff", all},
		{aigateway.PerGroup, "research", []string{"lead", "root"}},
		{aigateway.PerGroup, "department", []string{"root"}},
		{aigateway.PerGateway, "all", []string{"root"}},
		{aigateway.PerCustomer, "customers", []string{"root"}},
		{aigateway.PerTag("project"), "projects", []string{"root"}},
	} {
		renews := time.Date(2099, 12, 1, 0, 0, 0, 0, time.UTC)
		s.UseLimits(usedUp{rule: aigateway.LimitState{Limit: c.limit, Per: c.per, Rule: "tokens", Period: "24h", Amount: 60_000, Used: 60_200, Renews: &renews}})
		var seen []string
		for _, who := range all {
			answer := s.ask(testRequest{call: call, token: s.token(who)}).body
			assert.Contains(t, answer, "is used up", who)
			assert.Contains(t, answer, `"until":"2099-12-01T00:00:00Z"`, who)
			if strings.Contains(answer, "60200") {
				seen = append(seen, who)
			}
		}
		assert.Equal(t, c.seen, seen, c.limit)
	}
}
