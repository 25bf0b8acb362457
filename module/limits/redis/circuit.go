package redis

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// After failuresToRest failures in a row, the server gets no calls for the time rest.
	failuresToRest = 5
	rest           = time.Second
)

// circuit prevents calls of a server that does not answer, for which requests would wait. It
// logs the beginning and the end of an outage.
type circuit struct {
	logger *zap.Logger

	mu         sync.Mutex // guards the fields below
	failures   int        // in a row
	restsUntil time.Time
	open       bool // the beginning of an outage was logged
}

// closed reports whether the server may be called now.
func (c *circuit) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.restsUntil)
}

// record updates the circuit with the result of a call.
func (c *circuit) record(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		if c.open {
			c.logger.Info("the Redis server of limits answers again")
		}
		c.failures, c.open = 0, false
		return
	}
	if c.failures++; c.failures < failuresToRest {
		return
	}
	c.failures, c.restsUntil = 0, time.Now().Add(rest)
	if !c.open {
		c.logger.Error("the Redis server of limits does not answer", zap.Error(err))
	}
	c.open = true
}
