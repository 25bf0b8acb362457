package gatewaytest

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// closeTimeout is how long Caddy may take to close the listeners of a configuration.
const closeTimeout = time.Minute

var errListening = errors.New("a replaced configuration still listens")

// waitClosed waits until at most so many configurations listen on each address. Caddy
// closes the listeners of a replaced configuration in the background; until then, it
// answers some of the new connections.
func (c *Caddy) waitClosed(limit int) error {
	deadline := time.NewTimer(closeTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for c.listening() > limit {
		select {
		case <-tick.C:
		case <-deadline.C:
			return errListening
		}
	}
	return nil
}

// listening returns the largest number of configurations that listen on one address.
func (c *Caddy) listening() int {
	usage := caddy.ListenerUsage("tcp", c.admin)
	for _, port := range c.ports {
		usage = max(usage, caddy.ListenerUsage("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))))
	}
	return usage
}
