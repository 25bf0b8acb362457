package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"time"
)

// servers are further servers that gateways use; empty for those that do not run.
type servers struct {
	redis    string // address
	postgres string // data source name
	process  *exec.Cmd
}

// newServers returns the servers of the command line. Without an address, it starts a Redis
// server of its own, if the program is installed.
func newServers(ctx context.Context, redis, postgres string) (servers, error) {
	s := servers{redis: redis, postgres: postgres}
	if _, err := exec.LookPath("redis-server"); redis != "" || err != nil {
		return s, nil
	}
	addresses, err := freeAddresses(1)
	if err != nil {
		return s, err
	}
	s.redis = addresses[0]
	host, port, err := net.SplitHostPort(s.redis)
	if err != nil {
		return s, err
	}
	s.process = exec.Command("redis-server", "--bind", host, "--port", port, "--save", "", "--appendonly", "no")
	if err := s.process.Start(); err != nil {
		return s, fmt.Errorf("starting redis-server: %w", err)
	}
	if err := listens(ctx, s.redis); err != nil {
		s.stop()
		return s, fmt.Errorf("waiting for redis-server: %w", err)
	}
	return s, nil
}

// listens waits until a process that has been started listens on an address.
func listens(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s servers) stop() { end(s.process) }

// run reports whether a server runs.
func (s servers) run(needed server) bool {
	return needed == "" || needed == redis && s.redis != "" || needed == postgres && s.postgres != ""
}
