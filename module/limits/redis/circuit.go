package redis

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// After failuresToRest failures in a row, the server is not asked for rest.
	failuresToRest = 5
	rest           = time.Second
)

// circuit spares requests the wait for a server that does not answer, and logs when that
// begins and ends.
type circuit struct {
	logger *zap.Logger

	mu       sync.Mutex // guards all below
	failures int        // in a row
	restsTo  time.Time
	open     bool // an outage was logged
}

// closed reports whether the server may be asked now.
func (c *circuit) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.restsTo)
}

// note notes the result of a call.
func (c *circuit) note(err error) {
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
	c.failures, c.restsTo = 0, time.Now().Add(rest)
	if !c.open {
		c.logger.Error("the Redis server of limits does not answer", zap.Error(err))
	}
	c.open = true
}
