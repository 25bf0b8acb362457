package usage_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// change sends a request to the admin API of a process, which must succeed, and decodes the answer.
func change(t testing.TB, gateway *site.Process, method, path, body string, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, gateway.AdminURL("/api/v1/"+path), strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s", got)
	if answer != nil {
		require.NoError(t, json.Unmarshal(got, answer))
	}
}

// newKey makes a key for a user, with more members of the body: `"budget":"5/month"`.
func newKey(t testing.TB, gateway *site.Process, user, more string) (made struct {
	ID  int
	Key string
}) {
	t.Helper()
	change(t, gateway, http.MethodPost, "keys", fmt.Sprintf(`{"user":%q,"name":"k"%s}`, user, more), &made)
	return made
}

// statusWith returns the status of a request with a key for an answer of so many tokens at most.
func statusWith(a asker, key string, limit int) int {
	return a.Ask(site.ChatPath, asking(limit), "Authorization", "Bearer "+key).Status
}

// However the budgets of a key, its user, its team and the gateway are nested, two gateways
// together never spend more than the tightest allows, and nothing less.
func TestTwoGatewaysSpendTheTightestRule(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	cluster, installed := storetest.Postgres(t)
	if !ok || !installed {
		return
	}
	dsn := filepath.Join(t.TempDir(), "dsn")
	require.NoError(t, os.WriteFile(dsn, []byte(cluster.NewDatabase(t)), 0o600))
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateways := sharing(t, server, "deny", append(budget(p, "budget 100000/month"), "store postgres {file."+dsn+"}")...)
	for round := range 6 {
		user, team := fmt.Sprintf("user%d", round), fmt.Sprintf("team%d", round)
		amounts := [3]int{60 + rand.IntN(200), 60 + rand.IntN(200), 60 + rand.IntN(200)}
		change(t, gateways[0], http.MethodPost, "users", fmt.Sprintf(`{"username":%q}`, user), nil)
		change(t, gateways[0], http.MethodPatch, "users/"+user, fmt.Sprintf(`{"budget":"%d/month"}`, amounts[0]), nil)
		change(t, gateways[0], http.MethodPost, "teams", fmt.Sprintf(`{"name":%q,"budget":"%d/month"}`, team, amounts[1]), nil)
		change(t, gateways[0], http.MethodPut, "teams/"+team+"/members/"+user, `{}`, nil)
		key := newKey(t, gateways[0], user, fmt.Sprintf(`,"limit":%q,"budget":"%d/month"`, team, amounts[2]))
		require.Eventually(t, func() bool { return statusWith(gateways[1], key.Key, 1000) == http.StatusTooManyRequests }, site.Patience, site.PollEvery)

		var admitted atomic.Int64
		spend := func() {
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() {
					if statusWith(gateways[i%2], key.Key, 20) == http.StatusOK {
						admitted.Add(1)
					}
				})
			}
			all.Wait()
		}
		spend()
		assert.EqualValues(t, min(amounts[0], amounts[1], amounts[2])/20, admitted.Load(), "budgets of user, team and key: %v", amounts)

		// More room in one rule is of no use while another is the tightest.
		change(t, gateways[1], http.MethodPatch, fmt.Sprintf("keys/%d", key.ID), `{"budget":"1000/month"}`, nil)
		change(t, gateways[1], http.MethodPatch, "users/"+user, `{"budget":""}`, nil)
		change(t, gateways[1], http.MethodPatch, "teams/"+team, `{"budget":"300/month"}`, nil)
		require.Eventually(t, func() bool {
			spend()
			return admitted.Load() >= 300/20
		}, site.Patience, site.PollEvery, "the changes have effect in both gateways")
		assert.EqualValues(t, 300/20, admitted.Load())
	}
}

// A budget that was removed, or had another period for a while, kept its old count: what was spent meanwhile
// did not count when it was set again, until a restart, and with counters in Redis not even then.
func TestABudgetThatIsSetAgainCountsWhatWasSpentMeanwhile(t *testing.T) {
	t.Parallel()
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	of := map[string]string{"memory": "counters memory"}
	if server, ok := counterstest.StartRedis(t); ok {
		of["redis"] = "counters redis " + server.Address + " {\ntimeout 10s\n}"
	}
	for name, counters := range of {
		lines := append(withLedger(t, site.Direct.Provider("p", p, dollars, "format chat")), counters)
		gateway := site.StartProcess(t, "", lines...)
		change(t, gateway, http.MethodPost, "users", `{"username":"ada"}`, nil)
		change(t, gateway, http.MethodPost, "users", `{"username":"bob"}`, nil)
		change(t, gateway, http.MethodPost, "teams", `{"name":"support"}`, nil)
		change(t, gateway, http.MethodPut, "teams/support/members/bob", `{}`, nil)
		ofUser, ofKey, ofTeam := newKey(t, gateway, "ada", ""), newKey(t, gateway, "bob", ""), newKey(t, gateway, "bob", `,"limit":"support"`)
		for path, key := range map[string]string{"users/ada": ofUser.Key, fmt.Sprintf("keys/%d", ofKey.ID): ofKey.Key, "teams/support": ofTeam.Key} {
			set := func(budget string) {
				change(t, gateway, http.MethodPatch, path, fmt.Sprintf(`{"budget":%q}`, budget), nil)
			}
			spend := func(want, limit int) { require.Equal(t, want, statusWith(gateway, key, limit), "%s %s", name, path) }
			set("1000/month")
			spend(http.StatusOK, 20)
			set("")
			for range 3 {
				spend(http.StatusOK, 20)
			}
			set("90/month")
			spend(http.StatusTooManyRequests, 11)
			spend(http.StatusOK, 10) // it costs 20
			set("1000/day")
			spend(http.StatusOK, 20)
			set("125/month")
			spend(http.StatusTooManyRequests, 6)
			spend(http.StatusOK, 5)
		}
	}
}

// A reload that took the budget out of a limit, and a later one that set it again, left the old count on the
// Redis server.
func TestAReloadThatSetsABudgetAgainReadsTheLedger(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	ledger := append(withLedger(t), "counters redis "+server.Address+" {\ntimeout 10s\n}")
	with := func(rule string) []string { return append(budget(p, rule), ledger...) }
	gateway := site.StartProcess(t, "", with("budget 1000/month")...)
	require.Equal(t, http.StatusOK, statusOf(gateway, 20))
	gateway.Reload("", with("requests 1000/1h")...)
	require.Equal(t, http.StatusOK, statusOf(gateway, 20))
	require.Equal(t, http.StatusOK, statusOf(gateway, 20))
	gateway.Reload("", with("budget 70/month")...)
	assert.Equal(t, http.StatusTooManyRequests, statusOf(gateway, 11))
	require.Equal(t, http.StatusOK, statusOf(gateway, 10))
	gateway.Reload("", with("budget 90/month")...)
	assert.Equal(t, http.StatusTooManyRequests, statusOf(gateway, 11), "a reload that keeps the period keeps the count")
	require.Equal(t, http.StatusOK, statusOf(gateway, 10))
}

// Own rules are enforced as those of the configuration are: with their name in the refusal, after
// a kill, and after a reload.
func TestOwnRulesOutliveAKill(t *testing.T) {
	t.Parallel()
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	lines := withLedger(t, site.Direct.Provider("p", p, dollars, "format chat"))
	gateway := site.StartProcess(t, "", lines...)
	change(t, gateway, http.MethodPost, "users", `{"username":"ada"}`, nil)
	key := newKey(t, gateway, "ada", `,"budget":"50/month","requests":"9/1h"`)
	require.Equal(t, http.StatusOK, statusWith(gateway, key.Key, 40))
	gateway.Kill()

	gateway = site.StartProcess(t, "", lines...)
	refusal := func(limit int) site.Reply {
		answer := gateway.Ask(site.ChatPath, asking(limit), "Authorization", "Bearer "+key.Key)
		require.Equal(t, http.StatusTooManyRequests, answer.Status, answer.Body)
		return answer
	}
	require.Eventually(t, func() bool { return statusWith(gateway, key.Key, 40) == http.StatusTooManyRequests }, site.Patience, site.PollEvery)
	assert.Regexp(t, `^the budget of this key \(its own rule\), 50 USD per month, has less left than this request may cost, 40 USD`, refusal(40).Failure(t).Message)
	require.Equal(t, http.StatusOK, statusWith(gateway, key.Key, 30))
	gateway.Reload("", append(lines, "max_body 1MiB")...)
	assert.Regexp(t, `^the budget of this key \(its own rule\), 50 USD per month, has less left than this request may cost, 11 USD`, refusal(11).Failure(t).Message)
	require.Equal(t, http.StatusOK, statusWith(gateway, key.Key, 10))
	assert.Regexp(t, `^the budget of this key \(its own rule\) is used up: 50 USD per month; there is room again at`, refusal(1).Failure(t).Message)

	why := func() (reason struct{ Reason, Until string }) {
		change(t, gateway, http.MethodGet, fmt.Sprintf("keys/%d/refusal", key.ID), "", &reason)
		return reason
	}
	assert.Equal(t, "the budget of 50 USD per month of this key (its own rule) is used up", why().Reason)
	assert.Regexp(t, `^\d{4}-\d\d-01T00:00:00`, why().Until)
	change(t, gateway, http.MethodPatch, fmt.Sprintf("keys/%d", key.ID), `{"budget":"","requests":"1/1h"}`, nil)
	require.Equal(t, http.StatusOK, statusWith(gateway, key.Key, 1), "rates begin anew when a period of the rules changes")
	answer := refusal(1)
	assert.Equal(t, "request rate limit reached for this key (its own rule)", answer.Failure(t).Message)
	assert.Equal(t, "1", answer.Header.Get("X-Ratelimit-Limit-Requests"))
	assert.Equal(t, "the rate of 1 requests per 1h of this key (its own rule) is used up", why().Reason)
	change(t, gateway, http.MethodPatch, fmt.Sprintf("keys/%d", key.ID), `{"requests":"","priority":"low"}`, nil)
	assert.Empty(t, why().Reason)
	var explained struct{ Key struct{ Priority string } }
	change(t, gateway, http.MethodGet, fmt.Sprintf("explain?model=m&key=%d", key.ID), "", &explained)
	assert.Equal(t, "low", explained.Key.Priority)
	change(t, gateway, http.MethodPatch, "users/ada", `{"concurrent":1,"budget":"60/month"}`, nil)
	assert.Regexp(t, `^the budget of this user \(their own rule\) is used up`, refusal(1).Failure(t).Message)
}

// A rotated key has two secrets for a time: for limits and the ledger, they are one key.
func TestBothSecretsOfARotatedKeyCountTogether(t *testing.T) {
	t.Parallel()
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateway := site.StartProcess(t, "", withLedger(t, site.Direct.Provider("p", p, dollars, "format chat"))...)
	change(t, gateway, http.MethodPost, "users", `{"username":"ada"}`, nil)
	key := newKey(t, gateway, "ada", `,"budget":"50/month"`)
	rotate := func(overlap string) (made struct{ Key string }) {
		change(t, gateway, http.MethodPost, fmt.Sprintf("keys/%d/rotation", key.ID), `{"overlap":"`+overlap+`"}`, &made)
		return made
	}
	second := rotate("24h")
	require.Equal(t, http.StatusOK, statusWith(gateway, key.Key, 20))
	require.Equal(t, http.StatusOK, statusWith(gateway, second.Key, 20))
	assert.Equal(t, http.StatusTooManyRequests, statusWith(gateway, key.Key, 20), "both spend the budget of one key")
	assert.Equal(t, http.StatusOK, statusWith(gateway, second.Key, 10))

	// Of rotations at once, each has another secret, and the last two are valid.
	var all sync.WaitGroup
	var secrets [8]string
	for i := range secrets {
		all.Go(func() { secrets[i] = rotate("24h").Key })
	}
	all.Wait()
	valid := 0
	for _, secret := range secrets {
		if statusWith(gateway, secret, 1) == http.StatusTooManyRequests {
			valid++
		}
	}
	assert.Equal(t, 2, valid)
	assert.Equal(t, http.StatusUnauthorized, statusWith(gateway, second.Key, 1))
	last := rotate("")
	assert.Equal(t, http.StatusTooManyRequests, statusWith(gateway, last.Key, 1))
	for _, secret := range secrets {
		assert.Equal(t, http.StatusUnauthorized, statusWith(gateway, secret, 1), "without an overlap, the secret before ends at once")
	}
}
