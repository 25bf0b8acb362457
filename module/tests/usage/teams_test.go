package usage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// manage sends a request to the admin API, which must succeed, and decodes the answer.
func manage(s *site.Site, method, path, body string, answer any) {
	s.T.Helper()
	got := s.Call(method, s.AdminURL("/api/v1/"+path), body)
	require.Equal(s.T, http.StatusOK, got.Status, got.Body)
	if answer != nil {
		require.NoError(s.T, json.Unmarshal([]byte(got.Body), answer))
	}
}

// startTeam starts a site with the team research, and returns the keys of its members ada and
// grace, and the lines of the site. A token of an answer costs one dollar.
func startTeam(t *testing.T) (s *site.Site, keys, block []string) {
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	block = withLedger(t, site.Direct.Provider("p", p, dollars, "price other input 0 output 0", "format chat"))
	s = site.Start(t, block...)
	manage(s, http.MethodPost, "teams", `{"name":"research","models":["m","own-*"],"budget":"50/month"}`, nil)
	for _, name := range []string{"ada", "grace"} {
		s.AddUser(name)
		manage(s, http.MethodPut, "teams/research/members/"+name, `{}`, nil)
		var made struct{ Key string }
		manage(s, http.MethodPost, "keys", fmt.Sprintf(`{"user":%q,"name":"laptop","limit":"research"}`, name), &made)
		keys = append(keys, made.Key)
	}
	return s, keys, block
}

func askWith(s *site.Site, key, body string) site.Reply {
	return s.Ask(site.ChatPath, body, "Authorization", "Bearer "+key)
}

// The budget of a team was possible for groups of the configuration alone.
func TestTheBudgetOfATeamCountsTheKeysOfAllMembers(t *testing.T) {
	s, keys, block := startTeam(t)
	require.Equal(t, http.StatusOK, askWith(s, keys[0], asking(40)).Status)
	require.Equal(t, http.StatusOK, askWith(s, keys[1], asking(30)).Status)
	refused := askWith(s, keys[0], asking(20))
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Regexp(t, `^the budget of the group 'research', 50 USD per month, has less left than this request may cost, 20 USD`, refused.Failure(t).Message)
	settled(t, s, "limit", 3)

	left := bill(t, s, "/api/usage/token", keys[1]).Data
	assert.EqualValues(t, 500_000*20, left.Used, "by the key")
	assert.EqualValues(t, 500_000*10, left.Left, "by the team")
	var sums struct{ Items []sum }
	manage(s, http.MethodGet, "usage?team=research&by=user", "", &sums)
	assert.Len(t, sums.Items, 2)
	var states struct{ Items []map[string]any }
	manage(s, http.MethodGet, "limits?name=research", "", &states)
	require.Len(t, states.Items, 1)
	assert.EqualValues(t, 10_000_000, states.Items[0]["left"])
	assert.Equal(t, "group", states.Items[0]["per"])

	// The next request has the new budget. Of the new period, the ledger has the costs.
	manage(s, http.MethodPatch, "teams/research", `{"budget":"70/week"}`, nil)
	assert.Equal(t, http.StatusOK, askWith(s, keys[0], asking(30)).Status)
	assert.Equal(t, http.StatusTooManyRequests, askWith(s, keys[1], asking(20)).Status)
	// If the configuration defines the limit, its rules are those of the team.
	require.NoError(t, s.Reload(site.Block("", append(block, "limit research {\nper group\nbudget 85/week\n}")...)))
	assert.Equal(t, http.StatusOK, askWith(s, keys[1], asking(25)).Status)
	assert.Equal(t, http.StatusTooManyRequests, askWith(s, keys[1], asking(10)).Status)
	assert.Equal(t, http.StatusConflict, s.Call(http.MethodPatch, s.AdminURL("/api/v1/teams/research"), `{"budget":"1000/week"}`).Status)
	require.NoError(t, s.Reload(site.Block("", block...)))
	assert.Equal(t, http.StatusTooManyRequests, askWith(s, keys[0], asking(10)).Status, "the rules of the team again")
}

func TestTheModelsOfATeamBoundItsKeys(t *testing.T) {
	s, keys, _ := startTeam(t)
	assert.Equal(t, http.StatusForbidden, askWith(s, keys[0], strings.Replace(asking(1), `"m"`, `"other"`, 1)).Status)
	assert.Equal(t, http.StatusForbidden, askWith(s, keys[0], strings.Replace(asking(1), `{`, `{"models":["other"],`, 1)).Status, "further models")
	assert.NotContains(t, s.Call(http.MethodGet, s.URL("site", "/v1/models"), "", "Authorization", "Bearer "+keys[0]).Body, `"other"`)
	assert.Contains(t, s.Call(http.MethodGet, s.URL("site", "/api/usage/token"), "", "Authorization", "Bearer "+keys[0]).Body, `"model_limits":{"m":true,"own-*":true}`)
	manage(s, http.MethodPatch, "teams/research", `{"models":["other"]}`, nil)
	assert.Equal(t, http.StatusOK, askWith(s, keys[0], strings.Replace(asking(1), `"m"`, `"other"`, 1)).Status, "at once")
	assert.Equal(t, http.StatusForbidden, askWith(s, keys[0], asking(1)).Status)
}

func TestAKeyOfADeletedTeamIsRefusedAtOnce(t *testing.T) {
	s, keys, _ := startTeam(t)
	remove := func(path string) int {
		return s.Call(http.MethodDelete, s.AdminURL("/api/v1/teams/"+path), "").Status
	}
	assert.Equal(t, http.StatusConflict, remove("research/members/ada"))
	assert.Equal(t, http.StatusConflict, remove("research"))
	assert.Equal(t, http.StatusOK, askWith(s, keys[0], asking(1)).Status)
	assert.Equal(t, http.StatusNoContent, remove("research/members/ada?keys=delete"))
	// On a busy machine, the gateway may not be sure for a moment, which these tests took for a failure.
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, keys[0]))
	assert.Equal(t, http.StatusOK, askWith(s, keys[1], asking(1)).Status)
	assert.Equal(t, http.StatusNoContent, remove("research?keys=delete"))
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, keys[1]))
}

// The admin API broke off the answer about a key whose limit had left the configuration.
func TestAKeyWhoseLimitIsGoneIsExplained(t *testing.T) {
	s, _, block := startTeam(t)
	require.NoError(t, s.Reload(site.Block("", append(block, "limit small {\nconcurrent 1\n}")...)))
	manage(s, http.MethodPost, "keys", `{"user":"ada","name":"small","limit":"small"}`, nil)
	var answer struct {
		Key struct {
			Allowed bool
			Limits  []any
		}
	}
	manage(s, http.MethodGet, "explain?model=m&key=3", "", &answer)
	assert.True(t, answer.Key.Allowed)
	assert.Len(t, answer.Key.Limits, 1)
	require.NoError(t, s.Reload(site.Block("", block...)))
	manage(s, http.MethodGet, "explain?model=m&key=3", "", &answer)
	assert.False(t, answer.Key.Allowed)
	assert.Empty(t, answer.Key.Limits)
}

// A reload gave the limit of a team the scope of keys. Its members then made, spent and deleted one
// key after the other. The other keys of the site are not affected.
func TestATeamWhoseMembersCouldEvadeItsLimitIsRefused(t *testing.T) {
	s, keys, block := startTeam(t)
	const sentence = "the limit 'research' counts each key, customer or tag alone, and users can have many: name one per user, or within one"
	evaded := append(block, "limit research {\nper key\nbudget 85/week\n}")
	require.NoError(t, s.Reload(site.Block("", evaded...)))
	assert.Contains(t, s.Logs.String(), "the limit of a team cannot be applied; requests with its keys are refused")
	assert.Contains(t, s.Logs.String(), sentence)
	refused := askWith(s, keys[0], asking(1))
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, http.StatusOK, askWith(s, site.ClientKey, asking(1)).Status)
	changed := s.Call(http.MethodPatch, s.AdminURL("/api/v1/teams/research"), `{"models":["m"]}`)
	assert.Equal(t, http.StatusBadRequest, changed.Status)
	assert.Contains(t, changed.Body, sentence)
	require.NoError(t, s.Reload(site.Block("", append(block, "limit research {\nbudget 85/week\n}")...)))
	assert.Equal(t, http.StatusOK, askWith(s, keys[0], asking(1)).Status)
}
