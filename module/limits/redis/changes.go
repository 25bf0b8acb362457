package redis

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
)

// change is a change on the server that no request waits for. Its commands may be sent
// several times.
type change interface {
	// write adds the commands to a batch.
	write(ctx context.Context, b *batch)
	// failed reports whether the change is to be sent again after an error.
	failed(err error) (again bool)
}

// batch is changes that are sent together. The text of a script is sent once in it.
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

// reservationLife is how long the server keeps a reservation that is not settled.
const reservationLife = 24 * time.Hour

// settlement replaces what was reserved by what was used.
type settlement struct {
	asked     time.Time // when the request was, by the clock of this machine
	ended     time.Time // by the same clock
	clock     *clock
	uncertain bool // the server may have done it before
	keys      []string
	windows   []any
}

// add adds a window.
func (s *settlement) add(key, kind string, limit int, reserved, used int64, period caddy.Duration) {
	s.keys = append(s.keys, key)
	s.windows = append(s.windows, kind, limit+1, countable(reserved), countable(used), slotOf(time.Duration(period)))
}

func (s *settlement) write(ctx context.Context, b *batch) {
	again := 0
	if s.uncertain {
		again = 1
	}
	b.run(ctx, settleScript, s.keys, append([]any{s.clock.micros(), time.Since(s.ended).Microseconds(), again}, s.windows...)...)
}

// failed implements change. Once the server may have forgotten the reservation, what it
// holds stays counted.
func (s *settlement) failed(err error) (again bool) {
	s.uncertain = s.uncertain || isUncertain(err)
	return time.Since(s.asked) < reservationLife
}

// removal ends a running request.
type removal struct {
	keys []string
	id   string
}

func (r *removal) write(ctx context.Context, b *batch) {
	for _, key := range r.keys {
		b.ZRem(ctx, key, r.id)
	}
}

func (*removal) failed(error) (again bool) { return true }

// renewal renews the lease of a running request. There is another one after a minute.
type renewal struct{ *reservation }

func (r renewal) write(ctx context.Context, b *batch) {
	b.run(ctx, renewScript, r.runningKeys(), r.server.clock.micros(), r.id, lease.Microseconds())
}

func (renewal) failed(error) (again bool) { return false }
