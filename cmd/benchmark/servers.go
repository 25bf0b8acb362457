package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// servers are further servers that gateways use; empty for those that do not run.
type servers struct {
	redis    string // address
	postgres string // data source name
	process  *program
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
	s.process, err = launch(exec.Command("redis-server", "--bind", host, "--port", port, "--save", "", "--appendonly", "no"))
	if err != nil {
		return s, err
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
	switch needed {
	case redis:
		return s.redis != ""
	case postgres:
		return s.postgres != ""
	case shared:
		return s.redis != "" && s.postgres != ""
	}
	return true
}

// usedCPU is what a Redis server states of its processor time.
var usedCPU = regexp.MustCompile(`used_cpu_(?:sys|user):([\d.]+)`)

// redisSeconds returns the processor time that a Redis server has used.
func redisSeconds(ctx context.Context, address string) (seconds float64, err error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "INFO cpu\r\nQUIT\r\n"); err != nil {
		return 0, err
	}
	info, err := io.ReadAll(io.LimitReader(c, 1<<16))
	for _, found := range usedCPU.FindAllSubmatch(info, -1) {
		used, _ := strconv.ParseFloat(string(found[1]), 64) // digits
		seconds += used
	}
	return seconds, err
}

// postgresSeconds returns the processor time that all PostgreSQL servers of the machine have
// used, 0 on systems without /proc.
func postgresSeconds() (seconds float64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		name, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); err == nil && strings.HasSuffix(name, "(postgres") && len(fields) > 12 {
			user, _ := strconv.ParseFloat(fields[11], 64)
			system, _ := strconv.ParseFloat(fields[12], 64)
			seconds += (user + system) / 100 // ticks in a second, on every Linux that Go runs on
		}
	}
	return seconds
}
