package site

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Process is a gateway in a process of its own, which can be ended. Tests of
// processes may run in parallel.
type Process struct {
	// Address is the host and port of the site.
	Address string

	t       testing.TB
	admin   string // host and port
	client  *http.Client
	command *exec.Cmd
	exited  chan error

	mu      sync.Mutex // guards both
	log     strings.Builder
	changed chan struct{} // closed and replaced with every line
}

// StartProcess runs a gateway with global options and lines for the ai_gateway
// block of its site, which accepts ClientKey. The lines may refer to
// {env.KEY_ALICE} and {env.KEY_BOB}. The process is killed when the test ends.
func StartProcess(t testing.TB, options string, lines ...string) *Process {
	t.Helper()
	p := &Process{
		t: t, Address: fmt.Sprintf("127.0.0.1:%d", gatewaytest.FreePort(t)), admin: fmt.Sprintf("127.0.0.1:%d", gatewaytest.FreePort(t)),
		client:  &http.Client{Transport: gatewaytest.Persistent(new(http.Transport))},
		changed: make(chan struct{}), exited: make(chan error, 1),
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "Caddyfile")
	require.NoError(t, os.WriteFile(path, []byte(p.config(options, lines...)), 0o600))
	p.command = exec.Command(os.Args[0], "run", "--adapter", "caddyfile", "--config", path)
	p.command.Env = append(os.Environ(),
		"CLIENT_KEY="+ClientKey, "KEY_ALICE="+AliceKey, "KEY_BOB="+BobKey,
		"HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	stderr, err := p.command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.command.Start())
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	go func() {
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			p.note(scanner.Text())
		}
		p.exited <- p.command.Wait()
	}()
	p.Wait("serving initial configuration")
	return p
}

func (p *Process) tb() testing.TB { return p.t }

func (p *Process) config(options string, lines ...string) string {
	return "{\nadmin " + p.admin + "\npersist_config off\n" + options + "\n}\n" +
		strings.ReplaceAll(Block("", lines...), "127.0.0.1:PORT(site)", p.Address)
}

func (p *Process) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.WriteString(line + "\n")
	close(p.changed)
	p.changed = make(chan struct{})
}

// Log returns what the process has logged, as JSON.
func (p *Process) Log() string {
	log, _ := p.logged()
	return log
}

func (p *Process) logged() (log string, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String(), p.changed
}

// Wait waits until the process has logged the text.
func (p *Process) Wait(text string) {
	p.t.Helper()
	for ctx := Waiting(p.t); ; {
		log, changed := p.logged()
		if strings.Contains(log, text) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.Fail(p.t, "never logged: "+text, log)
		}
	}
}

// Open posts a body with ClientKey and returns once the headers of the answer
// have arrived.
func (p *Process) Open(path, body string, headers ...string) *Stream {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	p.t.Cleanup(cancel)
	response, err := p.client.Do(NewRequest(ctx, p.t, "http://"+p.Address, path, body, headers...))
	require.NoError(p.t, err)
	return newStream(p.t, response, cancel)
}

// Ask posts a body with ClientKey and reads the whole answer.
func (p *Process) Ask(path, body string, headers ...string) Reply {
	return p.Open(path, body, headers...).Rest()
}

// Later is Ask that does not wait: the function that it returns does.
func (p *Process) Later(path, body string) func() Reply {
	return later(func() Reply { return p.Ask(path, body) })
}

// Reload replaces the configuration.
func (p *Process) Reload(options string, lines ...string) {
	p.t.Helper()
	answer := p.load(options, lines)
	require.Equal(p.t, http.StatusOK, answer.Status, answer.Body)
}

// AssertRefuses checks that the process keeps its configuration and refuses
// another one, for a reason that contains the text.
func (p *Process) AssertRefuses(text, options string, lines ...string) {
	p.t.Helper()
	answer := p.load(options, lines)
	assert.Equal(p.t, http.StatusBadRequest, answer.Status)
	assert.Contains(p.t, answer.Body, text)
}

func (p *Process) load(options string, lines []string) Reply {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, "http://"+p.admin+"/load", strings.NewReader(p.config(options, lines...)))
	require.NoError(p.t, err)
	request.Header.Set("Content-Type", "text/caddyfile")
	request.Header.Set("Cache-Control", "must-revalidate") // reload even what is unchanged
	response, err := p.client.Do(request)
	require.NoError(p.t, err)
	return ReadReply(response)
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// AdminURL is the address of the admin endpoint with the path behind it.
func (p *Process) AdminURL(path string) string { return "http://" + p.admin + path }

// Terminate sends SIGTERM.
func (p *Process) Terminate() { require.NoError(p.t, p.command.Process.Signal(syscall.SIGTERM)) }

// Kill sends SIGKILL and waits for the end of the process.
func (p *Process) Kill() {
	require.NoError(p.t, p.command.Process.Kill())
	select {
	case <-p.exited:
	case <-Waiting(p.t).Done():
		require.Fail(p.t, "the process does not end")
	}
}

// AssertExits waits for the end of the process, with exit status 0.
func (p *Process) AssertExits() {
	p.t.Helper()
	select {
	case err := <-p.exited:
		assert.NoError(p.t, err)
	case <-Waiting(p.t).Done():
		require.Fail(p.t, "the process does not end", p.log.String())
	}
}

// RunCommand runs Caddy's command line in a process of its own, with the data
// directory of this one, and returns its standard output.
func RunCommand(t testing.TB, line string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], strings.Fields(line)...)
	var messages strings.Builder
	cmd.Stderr = &messages
	output, err := cmd.Output()
	require.NoError(t, err, "%s: %s", line, messages.String())
	return string(output)
}
