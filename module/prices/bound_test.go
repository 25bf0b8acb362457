package prices

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A prompt that a client has cached for an hour once cost more than what was reserved of
// its budget, so that requests at once exceeded the budget.
func TestNoCallCostsMoreThanItsBound(t *testing.T) {
	at := time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC) // a peak of some
	for _, list := range Builtin().exact {
		for _, p := range list {
			for _, count := range []int64{1, 1000, p.Edge, 2_000_000} {
				bound := p.Bound(at, count, count)
				for _, tokens := range []Tokens{
					{Fresh: count, Output: count}, {CacheWrite: count, Reasoning: count}, {CacheWriteLong: count, Output: count}, {CacheRead: count, Output: count / 2, Reasoning: count / 2},
				} {
					cost, ok := p.Cost(Call{Admitted: at, Tokens: tokens})
					assert.True(t, ok)
					assert.LessOrEqual(t, cost.Nanos, bound, "%s %+v", p.Name(), tokens)
				}
			}
		}
	}
}

func TestTheBoundIsThatOfAnEdgeThatMayBeReached(t *testing.T) {
	p := Price{Base: Rates{Fresh: 1000, Output: 1000}, Edge: 1000, Above: Rates{Fresh: 5000, Output: 5000}}
	assert.EqualValues(t, 499, p.Bound(time.Time{}, 499, 0))
	assert.EqualValues(t, 2500, p.Bound(time.Time{}, 500, 0))
}
