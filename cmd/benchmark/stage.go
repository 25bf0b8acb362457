package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// stage is the running processes: the provider, and a Caddy for each setup.
type stage struct {
	gateways  []*process
	processes []*exec.Cmd // all, in the order of their start
}

// process is a running Caddy.
type process struct {
	setup
	ports
}

// newStage starts the processes, and waits until all of them answer.
func newStage(ctx context.Context, folder string, all []setup) (*stage, error) {
	if !slices.ContainsFunc(all, func(s setup) bool { return s.name == baseline }) {
		all = append([]setup{setups[0]}, all...)
	}
	addresses, err := freeAddresses(1 + 2*len(all))
	if err != nil {
		return nil, err
	}
	s := &stage{}
	provider := addresses[0]
	if err := s.start(roleProvider, provider); err != nil {
		return nil, err
	}
	for i, setup := range all {
		p := ports{site: addresses[1+2*i], admin: addresses[2+2*i], provider: provider}
		config := filepath.Join(folder, setup.name+".caddyfile")
		if err = os.WriteFile(config, []byte(setup.caddyfile(p, filepath.Join(folder, setup.name))), 0o600); err != nil {
			break
		}
		if err = s.start(roleCaddy, "run", "--config", config, "--adapter", "caddyfile"); err != nil {
			break
		}
		s.gateways = append(s.gateways, &process{setup, p})
	}
	for _, g := range s.gateways {
		if err == nil {
			err = g.ready(ctx)
		}
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// start starts a process of this program.
func (s *stage) start(args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "BENCHMARK_KEY="+benchKey, "BENCHMARK_PROVIDER_KEY=sk-provider")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", args[0], err)
	}
	s.processes = append(s.processes, cmd)
	return nil
}

// stop ends all processes.
func (s *stage) stop() {
	for _, cmd := range s.processes {
		_ = cmd.Process.Kill() // fails only if the process has ended
		_ = cmd.Wait()
	}
}

// ready waits until a gateway answers its admin API.
func (p *process) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := p.ask(ctx, "/config/")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", p.name, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask returns an answer of the admin API.
func (p *process) ask(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d", path, res.StatusCode)
	}
	return body, err
}

// resources are what a process has used since its start, and the memory that it has.
type resources struct {
	seconds     float64 // of processor time
	allocations float64
	memory      float64 // resident, in bytes
}

// resources reads the process's own metrics.
func (p *process) resources(ctx context.Context) (r resources, err error) {
	body, err := p.ask(ctx, "/metrics")
	if err != nil {
		return r, fmt.Errorf("reading metrics: %w", err)
	}
	values := map[string]*float64{
		"process_cpu_seconds_total":     &r.seconds,
		"go_memstats_mallocs_total":     &r.allocations,
		"process_resident_memory_bytes": &r.memory,
	}
	found := 0
	for line := range strings.Lines(string(body)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if value := values[name]; value != nil {
			if *value, err = strconv.ParseFloat(number, 64); err != nil {
				return r, fmt.Errorf("reading metrics: %s: %w", name, err)
			}
			found++
		}
	}
	if found < len(values) {
		return r, errors.New("reading metrics: the system does not count the processor time of processes")
	}
	return r, nil
}

// freeAddresses returns addresses of loopback on which nobody listens.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // at the end, so that all differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
