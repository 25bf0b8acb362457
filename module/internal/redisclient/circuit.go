package redisclient

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// After FailuresToRest failures in a row, the server gets no calls for the time Rest.
	FailuresToRest = 5
	Rest           = time.Second
)

// Circuit prevents calls of a server that does not answer, for which requests would wait. It
// logs the beginning and the end of an outage. Its methods may be called concurrently.
type Circuit struct {
	Server string // as logs call it
	Logger *zap.Logger

	mu         sync.Mutex // guards the fields below
	failures   int        // in a row
	restsUntil time.Time
	outage     error // whose beginning was logged; nil for none
}

// Closed reports whether the server may be called now.
func (c *Circuit) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.restsUntil)
}

// Fails reports whether the latest call has failed.
func (c *Circuit) Fails() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures > 0 || c.outage != nil
}

// Record updates the circuit with the result of a call.
func (c *Circuit) Record(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		if c.outage != nil {
			c.Logger.Info("the Redis server of " + c.Server + " answers again")
		}
		c.failures, c.outage = 0, nil
		return
	}
	if c.failures++; c.failures < FailuresToRest {
		return
	}
	c.failures, c.restsUntil = 0, time.Now().Add(Rest)
	if c.outage == nil {
		c.Logger.Error("the Redis server of "+c.Server+" does not answer", zap.Error(err))
		c.outage = err
	}
}

// Problem returns the error of an outage, nil if there is none.
func (c *Circuit) Problem() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outage
}
