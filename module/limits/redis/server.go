package redis

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/restore"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

// backgroundTimeout bounds how long what no request waits for waits for the server, unless
// a request waits longer.
const backgroundTimeout = time.Second

// server is a Redis server in use, which lasts over reloads. It has goroutines only while
// changes wait or budgets are restored.
type server struct {
	client   goredis.UniversalClient
	timeout  time.Duration
	holds    atomic.Int64 // configurations, which are one, and reservations
	clock    clock
	circuit  *circuit
	restores restore.Group[string] // by the key of the budget
	backlog  *backlog
	leases   *leases
}

func newServer(client goredis.UniversalClient, timeout time.Duration, logger *zap.Logger) *server {
	s := &server{client: client, timeout: timeout, circuit: &circuit{logger: logger}}
	s.backlog = newBacklog(s.send, logger)
	s.leases = &leases{backlog: s.backlog, running: make(map[*reservation]struct{})}
	s.hold()
	return s
}

// hold keeps the server open until drop is called.
func (s *server) hold() { s.holds.Add(1) }

// drop ends a hold. The last one ends the use of the server, once the changes that wait
// have been sent, or have failed.
func (s *server) drop() error {
	if s.holds.Add(-1) > 0 {
		return nil
	}
	s.backlog.close()
	return s.client.Close()
}

// Destruct implements caddy.Destructor. Requests that still run settle later.
func (s *server) Destruct() error { return s.drop() }

// do calls the server for a request, unless the server rests. The call does not end with
// the client of the request: such ends would count as failures of the server.
func (s *server) do(script string, call func(context.Context) error) error {
	if !s.circuit.closed() {
		return errResting
	}
	err := s.call(script, s.timeout, call)
	s.circuit.note(err)
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

// resultOf returns the result of a call for the metrics.
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

// send sends changes, and returns those that are to be sent again.
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

// sendBatch sends changes, unless the server rests, and returns the commands of each. It
// waits longer for the server than a request does: changes that are late would be sent
// again and again.
func (s *server) sendBatch(changes []change) (sent [][]goredis.Cmder, err error) {
	sent = make([][]goredis.Cmder, len(changes))
	if !s.circuit.closed() {
		return sent, errResting
	}
	return sent, s.call("settle", max(s.timeout, backgroundTimeout), func(ctx context.Context) error {
		b := batch{s.client.Pipeline(), make(map[*goredis.Script]bool)}
		for i, c := range changes {
			before := b.Len()
			c.write(ctx, &b)
			sent[i] = b.Cmds()[before:]
		}
		_, err := b.Exec(ctx)
		return err
	})
}

// errorOf returns the error of commands in a batch: that of the batch, unless the server
// answered each of its commands.
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
