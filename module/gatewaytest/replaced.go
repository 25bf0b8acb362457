package gatewaytest

import (
	"errors"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// closeTimeout is how long Caddy may take to close the listeners of a replaced
// configuration.
const closeTimeout = time.Minute

var errNotReplaced = errors.New("the previous configuration still listens")

// waitReplaced waits until the previous configuration listens no more. Caddy closes its
// listeners in the background; until then, it answers some of the new connections.
func (c *Caddy) waitReplaced() error {
	deadline := time.NewTimer(closeTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for c.shared() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return errNotReplaced
		}
	}
	return nil
}

// shared reports whether two configurations listen on one of the addresses of c.
func (c *Caddy) shared() bool {
	if caddy.ListenerUsage("tcp", c.admin) > 1 {
		return true
	}
	for name := range c.ports {
		if caddy.ListenerUsage("tcp", strings.TrimPrefix(c.URL(name, ""), "http://")) > 1 {
			return true
		}
	}
	return false
}
