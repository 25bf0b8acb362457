//go:build !race

// The race detector empties pools at random.

package main

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reachedAllocations are what a request allocates, by the names of the setups: one with a JSON
// answer, or with a stream of one text. Caddy and net/http make about 114 of them before and
// behind the gateway: four are those of the route that answers stray probes. Lower a number to what
// the test prints when the gateway has become better.
var reachedAllocations = []struct {
	scenario string
	reached  map[string]float64
}{
	{"chat 1 KB", map[string]float64{"bare": 155, "default": 156, "full": 174}},
	{"messages stream", map[string]float64{"bare": 163, "default": 164, "full": 182}},
	{"messages to chat 1 KB", map[string]float64{"bare": 177, "default": 178, "full": 194}},
	{"messages to chat 100 KB", map[string]float64{"bare": 178, "default": 180, "full": 196}},
	{"messages to chat stream", map[string]float64{"bare": 191, "default": 192, "full": 208}},
}

// varying is how many more a request may make, because the scheduler decides how many reads and
// writes an answer takes. The count differed by one, whatever the load and GOMAXPROCS were; a
// stream of one text has at most two more writes.
const varying = 4

// perEvent is the most allocations of a further event of a stream. The gateway makes none, and
// net/http one for each write of 256 bytes or more, which are two events at least.
const perEvent = 0.6

func TestAllocationsOfRequestsAndEvents(t *testing.T) {
	b := newBench(t, setups)
	stage, err := newStage(t.Context(), b.folder, setups[1:], b.servers, setting{})
	require.NoError(t, err)
	defer stage.stop()
	for _, bound := range reachedAllocations {
		s := selected(scenarios, bound.scenario, ";", func(s scenario) string { return s.name })[0]
		s.events = min(s.events, 1)
		for _, p := range stage.gateways {
			most := bound.reached[p.name] + varying
			got := allocationsOf(t, p, s, most)
			t.Logf("%s, %s: %.0f", s.name, p.name, got)
			assert.LessOrEqual(t, got, most, "%s, %s", s.name, p.name)
			if s.events == 0 {
				continue
			}
			longer := s
			longer.events += 1000
			each := (allocationsOf(t, p, longer, got+1000*perEvent) - got) / 1000
			t.Logf("%s, %s: %.3f for an event", s.name, p.name, each)
			assert.LessOrEqual(t, each, perEvent, "%s, %s", s.name, p.name)
		}
	}
}

// allocationsOf returns how many allocations a request makes: what a tenth of single requests
// does not exceed. Other work of the process only adds to a count, as the ledger does while it
// writes to its database. It may disturb nine requests of ten, but would be part of any mean.
// What reading the count makes is not counted. There are further tries while these are more
// than a bound.
func allocationsOf(t *testing.T, p *process, s scenario, bound float64) float64 {
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
	made(100)
	least := math.Inf(1)
	for try := 0; try == 0 || least > bound && try < 5; try++ {
		var none, one [50]float64
		for i := range one {
			none[i], one[i] = made(0), made(1)
		}
		slices.Sort(none[:])
		slices.Sort(one[:])
		least = min(least, one[len(one)/10]-none[len(none)/10])
	}
	return least
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
