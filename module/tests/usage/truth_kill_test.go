package usage_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// TestTheLedgerHasWhatProvidersChargeAlthoughTheGatewayIsKilled ensures that each whole answer
// that a client has got is in the ledger once, with its cost, and that the others have at
// least the amount that was reserved for them.
func TestTheLedgerHasWhatProvidersChargeAlthoughTheGatewayIsKilled(t *testing.T) {
	t.Parallel()
	const kills = 4
	inDollars := prices[:len(prices)-1] // budgets have one currency
	all := exchanges(t, 1200, inDollars)
	p := newProvider(t, all)
	lines := append(configuration(p.URL, t.TempDir()), "limit all {\nper gateway\nbudget 1000000/total\nunpriced allow\n}")
	queue := queueOf(all)
	for range kills {
		gateway := site.StartProcess(t, "", lines...)
		var dead atomic.Bool
		var answered atomic.Int64
		last := 20 + rand.Int64N(100)
		run(t, "http://"+gateway.Address, queue, &dead, func(*exchange) {
			if answered.Add(1) == last {
				dead.Store(true)
				gateway.Kill()
			}
		})
	}
	gateway := site.StartProcess(t, "", lines...)
	run(t, "http://"+gateway.Address, queue, new(atomic.Bool), func(*exchange) {})
	records := ledgerOf(t, gateway.AdminURL, all)
	var wrong problems
	crashed := 0
	for _, x := range all {
		list := records[x.model]
		for _, r := range list {
			if r.Outcome == "crashed" {
				crashed++
			}
		}
		wrong.add(t, x, x.problemAfterKill(list), list)
	}
	t.Logf("%d crashed", crashed)
	assert.Positive(t, crashed)
}

// problemAfterKill returns what is wrong with the records of an exchange during which the
// gateway may have been killed, "" for nothing.
func (x *exchange) problemAfterKill(records []record) string {
	switch {
	case len(records) > 1:
		return fmt.Sprintf("%d records", len(records))
	case len(records) == 0 && x.full:
		return "lost"
	case len(records) == 0:
		return "" // the gateway was not reached
	}
	r := &records[0]
	switch {
	case r.Outcome != "crashed" && (x.class == cut || x.class == leftMidway || x.class == severalLeft):
		return "" // the end of the gateway may have kept the client from what was recorded
	case r.Outcome != "crashed":
		return x.problem(r)
	case x.full:
		return "crashed, although the client has the answer"
	case len(r.Calls) != 1 || r.Calls[0].Source != "reserved":
		return "nothing is reserved"
	}
	truth := new(big.Rat).Mul(x.text(), big.NewRat(1000, 1))
	if truth.Cmp(big.NewRat(r.Calls[0].Held, 1)) > 0 {
		return fmt.Sprintf("%d nanos are reserved for %s", r.Calls[0].Held, truth.FloatString(3))
	}
	return ""
}

// text returns the cost of the prompts and of the texts of all answers.
func (x *exchange) text() *big.Rat {
	sum := new(big.Rat)
	for _, n := range x.notes {
		u := usage{input: tokensOf(x.prompt)}
		for _, p := range n.script.parts {
			u.output += tokensOf(p.whole())
		}
		sum.Add(sum, x.price.cost(u))
	}
	return sum
}
