package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stage is the running processes of a setting: the provider, and a Caddy for each setup.
type stage struct {
	gateways []*process
	provider *program
}

// process is a Caddy.
type process struct {
	setup
	links
	folder   string // of its data
	config   string // path of its Caddyfile
	run      *program
	balanced []*process // that it balances
}

// newStage starts the processes, and waits until all of them answer.
func newStage(ctx context.Context, folder string, all []setup, servers servers, needs setting) (*stage, error) {
	folder, err := os.MkdirTemp(folder, "stage")
	if err != nil {
		return nil, err
	}
	shared := links{redis: servers.redis, postgres: servers.postgres}
	if shared.certificate, err = newCertificate(folder); err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	shared.provider, shared.providerTLS = addresses[0], addresses[1]
	s := &stage{}
	if s.provider, err = startSelf(nil, roleProvider, shared.provider, shared.providerTLS, shared.certificate.file, shared.certificate.key); err != nil {
		return nil, err
	}
	for _, setup := range all {
		p := &process{setup: setup, links: shared, folder: filepath.Join(folder, setup.name)}
		for i := range needs.gateways {
			balanced := &process{setup: setup, links: shared, folder: fmt.Sprintf("%s-%d", p.folder, i)}
			err = cmp.Or(err, balanced.configure(needs))
			p.balanced = append(p.balanced, balanced)
		}
		if needs.gateways > 0 {
			p.directives = balancer(p.balanced).directives
		}
		err = cmp.Or(err, p.configure(needs))
		s.gateways = append(s.gateways, p)
	}
	if err == nil {
		err = s.start(ctx, shared)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// start waits for the provider, and then starts one gateway after the other. The first that
// fails ends it.
func (s *stage) start(ctx context.Context, shared links) error {
	for _, address := range []string{shared.provider, shared.providerTLS} {
		if err := listens(ctx, address); err != nil {
			return fmt.Errorf("waiting for the provider: %w", err)
		}
	}
	for _, p := range s.gateways {
		for _, one := range append(p.balanced, p) {
			if err := one.start(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// configure chooses the addresses of a process, and writes its Caddyfile.
func (p *process) configure(needs setting) error {
	addresses, err := freeAddresses(2)
	if err != nil {
		return err
	}
	p.site, p.admin, p.config = addresses[0], addresses[1], p.folder+".caddyfile"
	return os.WriteFile(p.config, []byte(p.caddyfile(p.links, needs)), 0o600)
}

// stop ends all processes.
func (s *stage) stop() {
	end(s.provider)
	for _, p := range s.gateways {
		for _, one := range append(p.balanced, p) {
			end(one.run)
		}
	}
}

// program is a process that runs.
type program struct {
	*exec.Cmd
	ended chan struct{} // closed when the process has ended
	cause error         // why it has ended; read after ended is closed
}

// launch starts a process.
func launch(cmd *exec.Cmd) (*program, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Args, err)
	}
	p := &program{Cmd: cmd, ended: make(chan struct{})}
	go func() { // until the process has ended
		p.cause = cmp.Or(cmd.Wait(), errEnded)
		close(p.ended)
	}()
	return p, nil
}

var errEnded = errors.New("the process has ended")

func end(p *program) {
	if p != nil {
		_ = p.Process.Kill() // fails only if the process has ended
		<-p.ended
	}
}

// start starts the process, and waits until it answers.
func (p *process) start(ctx context.Context) (err error) {
	p.run, err = startSelf([]string{
		"BENCHMARK_KEY=" + benchKey, "BENCHMARK_PROVIDER_KEY=sk-provider", "BENCHMARK_POSTGRES=" + p.postgres,
		"XDG_DATA_HOME=" + p.folder, "XDG_CONFIG_HOME=" + p.folder,
	}, roleCaddy, "run", "--config", p.config, "--adapter", "caddyfile")
	if err != nil {
		return err
	}
	return p.ready(ctx)
}

// renew starts the process anew.
func (p *process) renew(ctx context.Context) error {
	end(p.run)
	return p.start(ctx)
}

// startSelf starts a process of this program.
func startSelf(environment []string, args ...string) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	return launch(cmd)
}

// ready waits until a gateway answers its admin API.
func (p *process) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := p.ask(ctx, "/config/admin")
		if err == nil {
			return nil
		}
		select {
		case <-p.run.ended:
			return fmt.Errorf("waiting for %s: %w", p.name, p.run.cause)
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", p.name, errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask returns an answer of the admin API.
func (p *process) ask(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		return nil, err
	}
	return answerOf(req)
}

// answerOf returns the body of an answer with status 200.
func answerOf(req *http.Request) ([]byte, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %.200s", req.URL.Path, res.StatusCode, body)
	}
	return body, err
}

// resources are what a process has used since its start, and what it has.
type resources struct {
	seconds     float64 // of processor time
	allocations float64
	anonymous   float64 // memory of no file, in bytes; 0 on systems that do not count it
	resident    float64 // memory with the pages of mapped files, in bytes
	heap        float64 // in bytes, garbage included
	goroutines  float64
	files       float64 // open

	redis, postgres float64 // seconds of processor time of the servers
}

// resources returns the sums of the process and of those behind it.
func (p *process) resources(ctx context.Context) (sum resources, err error) {
	for _, one := range append(p.balanced, p) {
		r, err := one.ownResources(ctx)
		if err != nil {
			return sum, fmt.Errorf("%s: %w", one.name, err)
		}
		sum.seconds += r.seconds
		sum.allocations += r.allocations
		sum.anonymous += r.anonymous
		sum.resident += r.resident
		sum.heap += r.heap
		sum.goroutines += r.goroutines
		sum.files += r.files
	}
	sum.postgres = postgresSeconds()
	if p.redis != "" {
		sum.redis, err = redisSeconds(ctx, p.redis)
	}
	return sum, err
}

// ownResources reads the process's own metrics.
func (p *process) ownResources(ctx context.Context) (r resources, err error) {
	body, err := p.ask(ctx, "/metrics")
	if err != nil {
		return r, fmt.Errorf("reading metrics: %w", err)
	}
	values := map[string]*float64{
		"process_cpu_seconds_total":     &r.seconds,
		"go_memstats_mallocs_total":     &r.allocations,
		"process_resident_memory_bytes": &r.resident,
		"go_memstats_heap_alloc_bytes":  &r.heap,
		"go_goroutines":                 &r.goroutines,
		"process_open_fds":              &r.files,
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
		return r, errors.New("reading metrics: the system does not count the resources of processes")
	}
	r.anonymous, err = anonymousMemory(p.run.Process.Pid)
	return r, err
}

// anonymousMemory returns the bytes of a process that are pages of no file: those that the
// system cannot drop. It returns 0 on systems without /proc.
func anonymousMemory(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading memory: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "\nRssAnon:")
	number, _, _ := strings.Cut(rest, "kB")
	kb, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return 0, fmt.Errorf("reading memory: RssAnon: %w", err)
	}
	return kb * 1024, nil
}

// freeAddresses returns addresses of this machine on which nobody listens. Their ports are not
// those that systems give to whoever asks for any, so that no other program gets one before
// it is used: another server then answered the requests of a measurement.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for tries := 0; len(addresses) < n; tries++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err != nil && tries < 100*n {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer l.Close() // at the end, so that all differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
