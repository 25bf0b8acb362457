package usage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// labelled returns the lines of a gateway that counts tags and customers. The key of Bob has
// a tag, that of Alice none.
func labelled(p *gatewaytest.Provider, dir string, more ...string) []string {
	return append([]string{
		"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}", site.Direct.Provider("p", p, dollars, "format chat"),
		"tags team env", "customer header.X-Customer user metadata.user_id",
		"limit teams {\nper tag team\nbudget 70/month\n}", "limit customers {\nper customer\nwithin teams\nbudget 50/month\n}",
		"key alice {env.KEY_ALICE} {\nlimit customers\n}", "key bob {env.KEY_BOB} {\nlimit customers\ntags team=search\n}",
	}, more...)
}

// askAs asks for at most 20 tokens, each of which costs a dollar.
func askAs(a asker, key, customer string, headers ...string) int {
	body := strings.Replace(asking(20), "{", `{"user":"`+customer+`",`, 1)
	return a.Ask(site.ChatPath, body, append(headers, "Authorization", "Bearer "+key)...).Status
}

// sumsBy returns the requests by the values of a label, as the command prints them.
func sumsBy(t *testing.T, p *site.Process, dimension string) map[string]int64 {
	var sums []struct {
		Tag, Customer string
		Requests      int64
	}
	address := strings.TrimPrefix(p.AdminURL(""), "http://")
	require.NoError(t, json.Unmarshal([]byte(site.RunCommand(t, "ai-gateway usage --json --by "+dimension+" --address "+address)), &sums))
	all := make(map[string]int64)
	for _, s := range sums {
		all[s.Tag+s.Customer] += s.Requests
	}
	return all
}

// X131: limits by tags missed the tags of headers in other gateways, and ledgers those of
// keys. After a restart, budgets continue with what tags and customers have spent.
func TestX131LimitsAndLedgerSeeATagWhereverItComesFrom(t *testing.T) {
	t.Parallel()
	const search = "team=search, env=prod"
	for name, counters := range map[string]func() string{
		"memory": func() string { return "" },
		"redis": func() string {
			server, ok := counterstest.StartRedis(t)
			if !ok {
				return ""
			}
			return "counters redis " + server.Address + " {\ntimeout 10s\n}"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(twenty)
			lines := labelled(p, t.TempDir(), counters())
			gateway := site.StartProcess(t, "", lines...)
			assert.Equal(t, http.StatusOK, askAs(gateway, site.AliceKey, "acme", "X-Gateway-Tags", search), "by the header")
			assert.Equal(t, http.StatusOK, askAs(gateway, site.BobKey, "acme"), "by the key")
			assert.Equal(t, http.StatusTooManyRequests, askAs(gateway, site.BobKey, "acme", "X-Gateway-Tags", "env=prod"), "the budget of the customer")
			assert.Equal(t, http.StatusOK, askAs(gateway, site.BobKey, "umbrella", "X-Gateway-Tags", "team=search"), "another customer")
			for _, request := range p.Requests() {
				assert.Empty(t, request.Header.Values("X-Gateway-Tags"))
			}
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				assert.Equal(c, map[string]int64{"search": 4}, sumsBy(t, gateway, "tag:team"))
			}, site.Patience, 100e6)
			assert.Equal(t, map[string]int64{"prod": 2}, sumsBy(t, gateway, "day,tag:env"))
			assert.Equal(t, map[string]int64{"acme": 3, "umbrella": 1}, sumsBy(t, gateway, "customer,model"))

			left := site.RunCommand(t, "ai-gateway limits --key bob --customer umbrella --address "+strings.TrimPrefix(gateway.AdminURL(""), "http://"))
			assert.Regexp(t, `customers +customer +umbrella +budget/month +50\.0+ USD +20\.`, left)
			assert.Regexp(t, `teams +tag:team +search +budget/month +70\.0+ USD +60\.`, left)

			gateway.Kill()
			gateway = site.StartProcess(t, "", lines...)
			assert.Equal(t, http.StatusTooManyRequests, askAs(gateway, site.AliceKey, "new", "X-Gateway-Tags", search), "the budget of the tag")
			assert.Equal(t, http.StatusTooManyRequests, askAs(gateway, site.AliceKey, "acme", "X-Gateway-Tags", "team=ads"), "the budget of the customer")
			assert.Equal(t, http.StatusOK, askAs(gateway, site.AliceKey, "new", "X-Gateway-Tags", "team=ads"))
			for range 3 {
				assert.Equal(t, http.StatusOK, askAs(gateway, site.AliceKey, "without a tag", "X-Customer", string(rune('a'+len(p.Requests())))))
			}
			assert.Equal(t, http.StatusTooManyRequests, askAs(gateway, site.AliceKey, "z"), "requests without the tag count together")
		})
	}
}

// X131: a tag outside of the list was dropped, and nobody noticed that its usage was missing.
func TestX131ATagOutsideOfTheListIsRefused(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p), "tags team")...)
	for _, path := range site.CallPaths {
		answer := s.Ask(path, site.BodyFor(path, "m", "hello", true), "X-Gateway-Tags", "colour=red")
		assert.Equal(t, http.StatusBadRequest, answer.Status)
		assert.Equal(t, "x-gateway-tags: the tag 'colour' is not configured; known are: team", answer.Failure(t).Message, path)
	}
	assert.Zero(t, p.Count())
}

// By sessions, the requests of one customer met both targets.
func TestACustomerStaysInOneArm(t *testing.T) {
	a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	a.Always(twenty)
	b.Always(twenty)
	s := site.Start(t, site.Direct.Provider("a", a, "models off", "format chat"), site.Direct.Provider("b", b, "models off", "format chat"),
		"customer header.X-Customer", "model m {\nto a weight 1\nto b weight 1\nsplit_by customer\n}")
	counts := func() [2]int { return [2]int{a.Count(), b.Count()} }
	arms := make(map[[2]int]int) // customers by the requests that the targets have got from each
	for i := range 24 {
		before := counts()
		for session := range 3 {
			require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, asking(20), "X-Customer", fmt.Sprint("c", i), "X-Session-Affinity", fmt.Sprint(session)).Status)
		}
		arms[[2]int{a.Count() - before[0], b.Count() - before[1]}]++
	}
	assert.Len(t, arms, 2)
	assert.Positive(t, arms[[2]int{3, 0}])
	assert.Positive(t, arms[[2]int{0, 3}])

	// Without a source of customers, keys were the arms, and nothing showed it.
	err := s.Reload(site.Block("", site.Direct.Provider("a", a, "models off"), site.Direct.Provider("b", b, "models off"),
		"model m {\nto a weight 1\nto b weight 1\nsplit_by customer\n}"))
	assert.ErrorContains(t, err, "model 'm': split_by customer, but customer names no header or field")
}
