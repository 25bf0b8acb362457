//go:build !race

// The race detector empties pools at random.

package main

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allocationBounds are the most allocations of a request, by the names of the setups: what is
// reached, and 2 % of it, or 3 % with everything on, because the ledger and the counters work in
// the background, and for streams, because the number of reads varies. Caddy and net/http make
// about 110 of them before and behind the gateway. Lower a number when the gateway has become
// better.
var allocationBounds = []struct {
	scenario string
	most     map[string]float64
}{
	{"chat 1 KB", map[string]float64{"bare": 192, "default": 193, "full": 217}},
	{"messages stream", map[string]float64{"bare": 215, "default": 216, "full": 240}},
	{"messages to chat 1 KB", map[string]float64{"bare": 215, "default": 216, "full": 240}},
	{"messages to chat 100 KB", map[string]float64{"bare": 215, "default": 216, "full": 240}},
	{"messages to chat stream", map[string]float64{"bare": 240, "default": 241, "full": 265}},
}

// perEvent is the most allocations of an event of a stream: those of net/http, when a read has
// to wait. The gateway makes none.
const perEvent = 0.35

func TestAllocationsOfRequestsAndEvents(t *testing.T) {
	b := newBench(t, setups)
	stage, err := newStage(t.Context(), b.folder, setups[1:], b.servers, setting{})
	require.NoError(t, err)
	defer stage.stop()
	for _, bound := range allocationBounds {
		s := selected(scenarios, bound.scenario, ";", func(s scenario) string { return s.name })[0]
		for _, p := range stage.gateways {
			got := allocationsOf(t, p, s, 100, bound.most[p.name])
			t.Logf("%s, %s: %.1f", s.name, p.name, got)
			assert.LessOrEqual(t, got, bound.most[p.name], "%s, %s", s.name, p.name)
			if s.events == 0 {
				continue
			}
			longer := s
			longer.events = 11 * s.events
			added := float64(longer.events - s.events)
			each := (allocationsOf(t, p, longer, 20, got+perEvent*added) - got) / added
			t.Logf("%s, %s: %.3f for an event", s.name, p.name, each)
			assert.LessOrEqual(t, each, perEvent, "%s, %s", s.name, p.name)
		}
	}
}

// mostTries is the largest number of tries for a bound. With three, whatever they counted, the
// ledger wrote to its database during each of them in one run of five.
const mostTries = 12

// allocationsOf returns how many allocations one of n requests makes, one after the other:
// the fewest of several tries, since other work of the process only adds to them. There are
// further tries while these are more than a bound. What reading the count makes is not counted.
func allocationsOf(t *testing.T, p *process, s scenario, n int, bound float64) float64 {
	t.Helper()
	s.clients = 1
	l, err := newLoad(p, s)
	require.NoError(t, err)
	defer l.close()
	made := func(requests int) float64 {
		before := mallocs(t, p)
		for range requests {
			require.NoError(t, l.clients[0].send(t.Context(), time.Now()))
		}
		return mallocs(t, p) - before
	}
	made(n)
	none, all, each := math.Inf(1), math.Inf(1), math.Inf(1)
	for try := 0; try < 3 || each > bound && try < mostTries; try++ {
		none, all = min(none, made(0)), min(all, made(n))
		each = (all - none) / float64(n)
	}
	return each
}

// mallocs returns the exact number of allocations since the start of a process. The metrics
// miss what the processors have not handed in yet.
func mallocs(t *testing.T, p *process) float64 {
	t.Helper()
	encoded, err := p.ask(t.Context(), "/debug/vars")
	require.NoError(t, err)
	var vars struct{ Memstats struct{ Mallocs float64 } }
	require.NoError(t, json.Unmarshal(encoded, &vars))
	return vars.Memstats.Mallocs
}
