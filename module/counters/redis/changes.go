package redis

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
)

// change is a change on the server for which no request waits. Its commands may be sent
// several times.
type change interface {
	// write adds the commands to a batch.
	write(ctx context.Context, b *batch)
	// failed is called after an error. It reports whether the change must be sent again.
	failed(err error) (repeat bool)
}

// batch contains the commands of changes that are sent together. It contains the text of
// each script once.
type batch struct {
	goredis.Pipeliner
	sent map[*goredis.Script]bool
}

// run adds a call of a script.
func (b *batch) run(ctx context.Context, script *goredis.Script, keys []string, args ...any) {
	if b.sent[script] {
		script.EvalSha(ctx, b, keys, args...)
		return
	}
	b.sent[script] = true
	script.Eval(ctx, b, keys, args...)
}

// reservationLife is the time for which the server keeps a reservation that is not settled.
const reservationLife = 24 * time.Hour

// settlement replaces the reserved amounts of a request by the used amounts, or amends them later.
type settlement struct {
	began     time.Time // the beginning of the request, by the clock of this machine
	ended     time.Time // the end of the request, by the same clock
	clock     *clock
	uncertain bool // an earlier attempt may have succeeded
	keys      []string
	windows   []any
}

// add adds a window.
func (s *settlement) add(key, kind string, limit int, reserved, used int64, period caddy.Duration) {
	s.keys = append(s.keys, key)
	s.windows = append(s.windows, kind, limit+1, countable(reserved), countable(used), slotLength(time.Duration(period)))
}

func (s *settlement) write(ctx context.Context, b *batch) {
	repeats := 0
	if s.uncertain {
		repeats = 1
	}
	b.run(ctx, settleScript, s.keys, append([]any{s.clock.micros(), s.clock.here().Sub(s.ended).Microseconds(), repeats}, s.windows...)...)
}

// failed implements change. After reservationLife, the server may have deleted the
// reservation, so the settlement is given up, and the reserved amounts stay counted.
func (s *settlement) failed(err error) (repeat bool) {
	s.uncertain = s.uncertain || isUncertain(err)
	return s.clock.here().Sub(s.began) < reservationLife
}

// removal removes a request from the running ones.
type removal struct {
	keys []string
	id   string
}

func (r *removal) write(ctx context.Context, b *batch) {
	for _, key := range r.keys {
		b.ZRem(ctx, key, r.id)
	}
}

func (*removal) failed(error) (repeat bool) { return true }

// renewal renews the lease of a running request. It is not repeated, because another one
// follows after renewEvery.
type renewal struct{ *reservation }

func (r renewal) write(ctx context.Context, b *batch) {
	b.run(ctx, renewScript, r.runningKeys(), r.server.clock.micros(), r.id, lease.Microseconds())
}

func (renewal) failed(error) (repeat bool) { return false }
