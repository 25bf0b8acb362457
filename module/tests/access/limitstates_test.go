package access_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	_ "github.com/caddyserver/caddy/v2/modules/metrics" // the path of the admin API
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// state is the state of a rule of a limit in an answer.
type state struct {
	Limit, Per, Subject, Rule, Period, Currency string
	Amount, Used, Reserved, Left                int64
	Renews                                      *time.Time `json:"renews_at"`
}

func (s state) String() string { return strings.Join([]string{s.Limit, s.Per, s.Subject, s.Rule}, " ") }

type statePage struct {
	Items []state
	Next  string
}

// statesOf returns a page of the API for a user.
func statesOf(u loggedIn, query string) (page statePage) {
	u.T.Helper()
	got := u.ask(http.MethodGet, "/api/v1/limits?"+query, "")
	require.Equal(u.T, http.StatusOK, got.Status, got.Body)
	require.NoError(u.T, json.Unmarshal([]byte(got.Body), &page))
	return page
}

// names returns the names of states, and byName the states by their names.
func names(states []state) (all []string) {
	for _, s := range states {
		all = append(all, s.String())
	}
	return all
}

func byName(states []state) map[string]state {
	all := make(map[string]state)
	for _, s := range states {
		all[s.String()] = s
	}
	return all
}

const (
	adaKey = "sk-of-ada-0123456789abcdef"
	ownKey = "sk-of-none-0123456789abcdef"
)

// companyLimits are the lines of a site with nested limits and the keys of two users. A token
// of an answer costs one dollar.
func companyLimits(t *testing.T, p *gatewaytest.Provider) []string {
	t.Setenv("ADA_KEY", adaKey)
	t.Setenv("OWN_KEY", ownKey)
	dir := t.TempDir()
	return []string{
		"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}",
		"accounts {\nlimit researcher\n}",
		site.Direct.Provider("p", p, "price m input 0 output 1000000", "format chat"),
		"limit everything {\nper gateway\nbudget 1000/month\n}",
		"limit research {\nper group\nbudget 500/month\n}",
		"limit researcher {\nwithin research\nrequests 60/1m\nbudget 100/week\n}",
		"limit single {\nper key\nconcurrent 3\n}",
		"key ada {env.ADA_KEY} {\nowner ada\nlimit researcher\n}",
		"key own {env.OWN_KEY} {\nlimit single\n}",
	}
}

// usesTwenty answers with an answer of twenty tokens.
var usesTwenty = gatewaytest.Body(200, "application/json", []byte(`{"id":"c","object":"chat.completion","created":1,"model":"m",
	"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],
	"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`))

const fortyTokens = `{"model":"m","max_completion_tokens":40,"messages":[{"role":"user","content":"hello"}]}`

// No command, page or metric once answered how much of its budget a team had used.
func TestWhatIsUsedReservedAndLeftOfEveryLimitIsShown(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(usesTwenty)
	lines := companyLimits(t, p)
	s := site.Start(t, lines...)
	s.AddUser("bob")
	bob := logInAs(s, "site", "bob")
	id, bobsKey := bob.newKey()
	for _, key := range []string{adaKey, bobsKey, ownKey} {
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, fortyTokens, "Authorization", "Bearer "+key).Status)
	}
	gate := gatewaytest.NewGate(t)
	p.Script(gatewaytest.Stall(gate, usesTwenty))
	running := s.Later(site.ChatPath, fortyTokens, "Authorization", "Bearer "+adaKey)
	require.NoError(t, gate.WaitArrived(site.Waiting(t)))

	limits := func(flags string) (states []state) {
		command := "ai-gateway limits --address " + strings.TrimPrefix(s.AdminURL(""), "http://") + " --json " + flags
		require.NoError(t, json.Unmarshal([]byte(site.RunCommand(t, command)), &states))
		return states
	}
	check := func() {
		states := byName(limits(""))
		const dollar = 1_000_000
		for name, want := range map[string][4]int64{
			"everything gateway  budget":   {1000, 60, 40, 900},
			"research group  budget":       {500, 40, 40, 420},
			"researcher user ada budget":   {100, 20, 40, 40},
			"researcher user bob budget":   {100, 20, 0, 80},
			"single key own concurrent":    {3, 0, 0, 3},
			"researcher user ada requests": {60, 2, 0, 58},
		} {
			got := states[name]
			unit := int64(1)
			if strings.HasSuffix(name, " budget") {
				unit = dollar
				assert.Equal(t, "USD", got.Currency)
				require.NotNil(t, got.Renews, name)
				assert.Equal(t, got.Renews.Truncate(24*time.Hour), *got.Renews, "the beginning of a day")
			}
			assert.Equal(t, want, [4]int64{got.Amount / unit, got.Used / unit, got.Reserved / unit, got.Left / unit}, name)
		}
		assert.Len(t, states, 7)
	}
	check()
	assert.Equal(t, []string{"research group  budget"}, names(limits("--limit research")))
	assert.Equal(t, []string{"researcher user bob requests", "researcher user bob budget", "research group  budget", "everything gateway  budget"}, names(limits("--key key_"+id)))
	assert.Equal(t, []string{"researcher user ada requests", "researcher user ada budget"}, names(limits("--user ada")))
	assert.Empty(t, limits("--user nobody"))
	out := site.RunCommand(t, "ai-gateway limits --address "+strings.TrimPrefix(s.AdminURL(""), "http://")+" --limit research")
	assert.Regexp(t, `research +group +budget/month +500\.000000 USD +40\.000000 USD +40\.000000 USD +420\.000000 USD +20\d\d-\d\d-01T00:00:00Z\n$`, out)
	scraped := s.Call(http.MethodGet, s.AdminURL("/metrics"), "").Body
	assert.Contains(t, scraped, `caddy_ai_gateway_limit_used{limit="research",per="group",rule="budget"} 40`)
	assert.Contains(t, scraped, `caddy_ai_gateway_limit_reserved{limit="everything",per="gateway",rule="budget"} 40`)
	assert.Contains(t, scraped, `caddy_ai_gateway_limit_left{limit="everything",per="gateway",rule="budget"} 900`)
	assert.NotContains(t, scraped, `limit="researcher",per="user"`, "users are no labels")
	gate.Open()
	assert.Equal(t, http.StatusOK, running().Status)
}

// Group budgets show what others spend, and states of others show who uses the gateway.
func TestUsersSeeTheirOwnLimitsAndAdministratorsAll(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(usesTwenty)
	s := site.Start(t, companyLimits(t, p)...)
	s.AddUser("bob")
	s.AddUser("carol")
	require.Equal(t, http.StatusOK, s.Call(http.MethodPatch, s.AdminURL("/api/v1/users/carol"), `{"role":"admin"}`).Status)
	bob, carol := logInAs(s, "site", "bob"), logInAs(s, "site", "carol")
	bob.newKey()
	assert.Equal(t, []string{"researcher user bob requests", "researcher user bob budget"}, names(statesOf(bob, "").Items))
	assert.Equal(t, names(statesOf(bob, "").Items), names(statesOf(bob, "user=bob&name=researcher").Items))
	for _, others := range []string{"key=ada", "key=own", "name=research", "name=everything", "key=nothing"} {
		assert.Empty(t, statesOf(bob, others).Items, others)
	}
	for _, user := range []string{"ada", "nobody"} {
		assert.Equal(t, http.StatusForbidden, bob.ask(http.MethodGet, "/api/v1/limits?user="+user, "").Status)
	}
	assert.Equal(t, http.StatusUnauthorized, s.Call(http.MethodGet, s.URL("site", "/api/v1/limits"), "").Status)
	all := names(statesOf(carol, "").Items)
	assert.Equal(t, []string{
		"everything gateway  budget", "research group  budget", "single key own concurrent",
		"researcher user ada requests", "researcher user ada budget", "researcher user bob requests", "researcher user bob budget",
	}, all)

	var paged []string
	for after := ""; ; {
		page := statesOf(carol, "limit=1&after="+url.QueryEscape(after))
		paged = append(paged, names(page.Items)...)
		if after = page.Next; after == "" {
			break
		}
	}
	assert.Equal(t, all, paged, "pages have neither a gap nor a repetition")
	assert.Equal(t, http.StatusBadRequest, carol.ask(http.MethodGet, "/api/v1/limits?limit=x", "").Status)
}

// After a restart, the counters know nothing until the first request of a key. The money is
// in the ledger.
func TestBudgetsOfIdleKeysAreReadFromTheLedger(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(usesTwenty)
	lines := companyLimits(t, p)
	s := site.Start(t, lines...)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, fortyTokens, "Authorization", "Bearer "+adaKey).Status)
	s.AddUser("root")
	require.NoError(t, s.Reload(site.Block("", append(lines, "counters memory")...)))
	require.NoError(t, s.Reload(site.Block("", replaced(lines, "budget 100/week", "budget 100/day", "budget 500/month", "budget 500/total")...)))
	var page statePage
	require.NoError(t, json.Unmarshal([]byte(s.Call(http.MethodGet, s.AdminURL("/api/v1/limits?limit=1"), "").Body), &page))
	assert.NotEmpty(t, page.Next)
	assert.Equal(t, http.StatusBadRequest, s.Call(http.MethodGet, s.AdminURL("/api/v1/limits?limit=x"), "").Status)
	require.NoError(t, json.Unmarshal([]byte(s.Call(http.MethodGet, s.AdminURL("/api/v1/limits"), "").Body), &page))
	states := byName(page.Items)
	assert.EqualValues(t, 20_000_000, states["researcher user ada budget"].Used)
	assert.EqualValues(t, 20_000_000, states["research group  budget"].Used)
	assert.Nil(t, states["research group  budget"].Renews, "a budget in total has no end")
}

// replaced returns lines with replacements, old and new in turn.
func replaced(lines []string, pairs ...string) (all []string) {
	for _, line := range lines {
		all = append(all, strings.NewReplacer(pairs...).Replace(line))
	}
	return all
}
