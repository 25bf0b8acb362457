package redis

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

//go:embed admit.lua
var admitText string

//go:embed settle.lua
var settleText string

//go:embed restore.lua
var restoreText string

// The scripts. Run loads one that the server has forgotten.
var (
	admitScript   = goredis.NewScript(admitText)
	settleScript  = goredis.NewScript(settleText)
	restoreScript = goredis.NewScript(restoreText)
)

const (
	// mostWaiting bounds the settlements that wait for the server. Those beyond it are
	// dropped: what they reserved stays counted.
	mostWaiting = 8192
	// settlePatience bounds how long a settlement is tried.
	settlePatience = 10 * time.Second
	// After failuresToRest failures in a row, the server is not asked for rest.
	failuresToRest = 5
	rest           = time.Second
	// lease is how long a running request counts without being renewed; renewEvery is how
	// often it is.
	lease      = 3 * time.Minute
	renewEvery = time.Minute
)

var errResting = errors.New("the Redis server did not answer; it is asked again in a second")

// server is a Redis server in use.
type server struct {
	client  goredis.UniversalClient
	timeout time.Duration
	logger  *zap.Logger
	queue   chan func(context.Context) error // of settlements, in their order
	pending atomic.Int64                     // settlements that are not done
	stop    chan struct{}
	done    sync.WaitGroup

	mu       sync.Mutex // guards all below
	failures int
	restsTo  time.Time
	away     bool                      // an outage was logged
	running  map[*reservation]struct{} // those with a lease
	// restoring has the budgets that are being restored; closed at the end
	restoring map[string]chan struct{}
}

func newServer(client goredis.UniversalClient, timeout time.Duration, logger *zap.Logger) *server {
	s := &server{
		client: client, timeout: timeout, logger: logger, queue: make(chan func(context.Context) error, mostWaiting),
		stop: make(chan struct{}), running: make(map[*reservation]struct{}), restoring: make(map[string]chan struct{}),
	}
	s.done.Go(s.work)
	s.done.Go(s.renew)
	return s
}

// Destruct implements caddy.Destructor. It settles what waits.
func (s *server) Destruct() error {
	close(s.stop)
	s.done.Wait()
	return s.client.Close()
}

// do calls the server within its timeout, unless it rests.
func (s *server) do(ctx context.Context, script string, call func(context.Context) error) error {
	if !s.asked() {
		return errResting
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	begun := time.Now()
	err := call(ctx)
	s.note(err)
	result := "ok"
	if err != nil {
		result = "error"
	}
	metrics.CounterCall(script, result, time.Since(begun))
	return err
}

// asked reports whether the server may be asked now.
func (s *server) asked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().After(s.restsTo)
}

// note notes the result of a call, and logs the beginning and the end of an outage.
func (s *server) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if s.away {
			s.logger.Info("the Redis server of limits answers again")
		}
		s.failures, s.away = 0, false
		return
	}
	if s.failures++; s.failures < failuresToRest {
		return
	}
	s.failures, s.restsTo = 0, time.Now().Add(rest)
	if !s.away {
		s.logger.Error("the Redis server of limits does not answer", zap.Error(err))
	}
	s.away = true
}

// later has a settlement done in the background.
func (s *server) later(settle func(context.Context) error) {
	s.pending.Add(1)
	select {
	case s.queue <- settle:
	default:
		s.pending.Add(-1)
		s.logger.Warn("a settlement was dropped, as too many wait for the Redis server")
	}
}

// enter begins to restore a budget. If another request restores it already, enter waits
// for that, and returns nil.
func (s *server) enter(ctx context.Context, key string) (leave func(), err error) {
	s.mu.Lock()
	other := s.restoring[key]
	if other == nil {
		s.restoring[key] = make(chan struct{})
	}
	s.mu.Unlock()
	if other == nil {
		return func() { s.leave(key) }, nil
	}
	select {
	case <-other:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.restoring[key])
	delete(s.restoring, key)
}

// flush waits, within the timeout, until the settlements of this process are done that
// were asked for before.
func (s *server) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	done := make(chan struct{})
	s.later(func(context.Context) error { close(done); return nil })
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// work does settlements, and the waiting ones at the end.
func (s *server) work() {
	for {
		select {
		case settle := <-s.queue:
			s.settle(settle)
		case <-s.stop:
			for len(s.queue) > 0 {
				s.settle(<-s.queue)
			}
			return
		}
	}
}

// settle tries a settlement until it succeeds, for a while.
func (s *server) settle(settle func(context.Context) error) {
	defer s.pending.Add(-1)
	for end := time.Now().Add(settlePatience); ; {
		err := s.do(context.Background(), "settle", settle)
		if err == nil || time.Now().After(end) {
			return
		}
		select {
		case <-time.After(rest / 4):
		case <-s.stop:
			return
		}
	}
}

// renew renews the leases of running requests.
func (s *server) renew() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.renewAll()
		}
	}
}

func (s *server) renewAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.running {
		s.later(r.renew)
	}
}

// track renews the lease of a reservation from now on; untrack ends that.
func (s *server) track(r *reservation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[r] = struct{}{}
}

func (s *server) untrack(r *reservation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, r)
}

// splitAddresses returns the addresses of a list.
func splitAddresses(list string) []string { return strings.Split(list, ",") }
