package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/restore"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// backgroundTimeout is the timeout of calls for which no request waits, unless the timeout
// of requests is longer.
const backgroundTimeout = time.Second

// server is the connection to a Redis server, which survives reloads.
type server struct {
	client   goredis.UniversalClient
	timeout  time.Duration
	holds    atomic.Int64 // one for all configurations, and one for each reservation
	clock    clock
	circuit  *redisclient.Circuit
	restores restore.Group[string] // by the key of the budget
	backlog  *backlog
	leases   *leases
	watcher  sync.WaitGroup
	stop     chan struct{} // ends watch
}

func newServer(client goredis.UniversalClient, timeout time.Duration, logger *zap.Logger) *server {
	s := &server{client: client, timeout: timeout, circuit: &redisclient.Circuit{Server: "limits", Logger: logger}, stop: make(chan struct{})}
	s.backlog = newBacklog(s.send, logger)
	s.leases = &leases{backlog: s.backlog, running: make(map[*reservation]struct{})}
	s.clock.least.Store(unknown)
	s.hold()
	return s
}

// watchEvery is the time between two writes of watch.
const watchEvery = time.Second

// watch writes to the server while a configuration uses it, so that the circuit knows the beginning
// and the end of an outage without requests. A replica answers reads, and refuses writes.
func (s *server) watch() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		_ = s.do("watch", func(ctx context.Context) error { // the circuit has the result
			return s.client.Set(ctx, tag+"watched", 1, time.Minute).Err()
		})
	}
}

// hold keeps the server open until drop is called.
func (s *server) hold() { s.holds.Add(1) }

// drop undoes hold. The last drop closes the client, after the waiting changes have been
// sent or have failed.
func (s *server) drop() error {
	if s.holds.Add(-1) > 0 {
		return nil
	}
	s.backlog.close()
	return s.client.Close()
}

// Destruct implements caddy.Destructor. Requests that still run keep the server open.
func (s *server) Destruct() error {
	close(s.stop)
	s.watcher.Wait()
	return s.drop()
}

// do calls the server for a request, unless the circuit is open. The call is not cancelled
// when the client of the request leaves: that would count as a failure of the server.
func (s *server) do(script string, call func(context.Context) error) error {
	if !s.circuit.Closed() {
		return errResting
	}
	err := s.call(script, s.timeout, call)
	s.circuit.Record(err)
	return err
}

// call calls the server within a timeout.
func (s *server) call(script string, timeout time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	begun := time.Now()
	err := call(ctx)
	metrics.CounterCall(script, resultOf(err), time.Since(begun))
	if err != nil {
		return &serverError{err}
	}
	return nil
}

// resultOf returns the metrics label for the result of a call.
func resultOf(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "error"
}

// send sends changes, and returns those that must be sent again.
func (s *server) send(changes []change) (failed []change) {
	sent, err := s.sendBatch(changes)
	if err == nil {
		return nil
	}
	for i, c := range changes {
		if err := errorOf(sent[i], err); err != nil && c.failed(err) {
			failed = append(failed, c)
		}
	}
	return failed
}

// sendBatch sends changes, unless the circuit is open, and returns the commands of each
// change. Its timeout is longer than that of requests: with a slow server, the same changes
// would otherwise fail again and again.
func (s *server) sendBatch(changes []change) (sent [][]goredis.Cmder, err error) {
	sent = make([][]goredis.Cmder, len(changes))
	if !s.circuit.Closed() {
		return sent, errResting
	}
	return sent, s.call("settle", max(s.timeout, backgroundTimeout), func(ctx context.Context) error {
		b := batch{s.client.Pipeline(), make(map[*goredis.Script]bool)}
		for i, c := range changes {
			length := b.Len()
			c.write(ctx, &b)
			sent[i] = b.Cmds()[length:]
		}
		_, err := b.Exec(ctx)
		return err
	})
}

// errorOf returns the error of some commands of a batch. If the server has not answered
// every command, that is the error of the batch.
func errorOf(commands []goredis.Cmder, batch error) error {
	if !isAnswer(batch) {
		return batch
	}
	for _, command := range commands {
		if err := command.Err(); err != nil {
			return err
		}
	}
	return nil
}
