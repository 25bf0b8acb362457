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
	outage     error // whose beginning was logged; nil for none
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
		if c.outage != nil {
			c.logger.Info("the Redis server of limits answers again")
		}
		c.failures, c.outage = 0, nil
		return
	}
	if c.failures++; c.failures < failuresToRest {
		return
	}
	c.failures, c.restsUntil = 0, time.Now().Add(rest)
	if c.outage == nil {
		c.logger.Error("the Redis server of limits does not answer", zap.Error(err))
		c.outage = err
	}
}

// problem returns the error of an outage, nil if there is none.
func (c *circuit) problem() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outage
}
