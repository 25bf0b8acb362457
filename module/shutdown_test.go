package module_test

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

// process is a gateway in a process of its own, which can be ended.
type process struct {
	t           testing.TB
	site, admin string // addresses
	client      *http.Client
	command     *exec.Cmd
	exited      chan error

	mu      sync.Mutex // guards both
	log     strings.Builder
	changed chan struct{} // closed and replaced with every line
}

// startProcess runs a gateway with global options and lines for its site.
func startProcess(t testing.TB, options string, lines ...string) *process {
	t.Helper()
	p := &process{
		t: t, site: fmt.Sprintf("127.0.0.1:%d", gatewaytest.FreePort(t)), admin: fmt.Sprintf("127.0.0.1:%d", gatewaytest.FreePort(t)),
		client:  &http.Client{Transport: gatewaytest.Persistent(new(http.Transport))},
		changed: make(chan struct{}), exited: make(chan error, 1),
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "Caddyfile")
	require.NoError(t, os.WriteFile(path, []byte(p.config(options, lines...)), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	p.command = exec.Command(self, "run", "--adapter", "caddyfile", "--config", path)
	p.command.Env = append(os.Environ(), "CLIENT_KEY="+clientKey, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
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
	p.wait("serving initial configuration")
	return p
}

func (p *process) config(options string, lines ...string) string {
	return "{\nadmin " + p.admin + "\npersist_config off\n" + options + "\n}\n" +
		strings.ReplaceAll(siteBlock("", lines...), "127.0.0.1:PORT(site)", p.site)
}

func (p *process) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.WriteString(line + "\n")
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait waits until the process has logged the text.
func (p *process) wait(text string) {
	p.t.Helper()
	for ctx := waiting(p.t); ; {
		p.mu.Lock()
		log, changed := p.log.String(), p.changed
		p.mu.Unlock()
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

// open sends a request and returns once the headers of its answer are there.
func (p *process) open(path, body string) *stream {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.site+path, strings.NewReader(body))
	require.NoError(p.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+clientKey)
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := p.client.Do(request)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = response.Body.Close() })
	return &stream{Response: response, t: p.t, reader: bufio.NewReader(response.Body), cancel: cancel}
}

// later is open for an answer whose headers are still to come.
func (p *process) later(path, body string) func() reply {
	answer := make(chan reply, 1)
	go func() { answer <- p.open(path, body).rest() }()
	return func() reply { return <-answer }
}

// reload puts another configuration in force.
func (p *process) reload(options string, lines ...string) {
	p.t.Helper()
	response, err := p.client.Post("http://"+p.admin+"/load", "text/caddyfile", strings.NewReader(p.config(options, lines...)))
	require.NoError(p.t, err)
	_ = response.Body.Close()
	require.Equal(p.t, http.StatusOK, response.StatusCode)
}

func (p *process) terminate() { require.NoError(p.t, p.command.Process.Signal(syscall.SIGTERM)) }

// assertExits waits for the end of the process, which is to be a good one.
func (p *process) assertExits() {
	p.t.Helper()
	select {
	case err := <-p.exited:
		assert.NoError(p.t, err)
	case <-waiting(p.t).Done():
		require.Fail(p.t, "the process does not end", p.log.String())
	}
}

// stalled is a stream that stands at the gate after "Hi".
func (p *process) stalled(provider *gatewaytest.Provider, gate *gatewaytest.Gate, path string) *stream {
	provider.Script(gatewaytest.InOrder(
		gatewaytest.Chunks(gatewaytest.EventStream, streams[path][:len(streams[path])-2]...),
		gatewaytest.Stall(gate, more(streams[path][len(streams[path])-2:]...)),
	))
	open := p.open(path, bodyFor(path, "m", "hello", true))
	for !strings.Contains(open.next(), "Hi") {
	}
	return open
}

var shuttingDown = told{
	status: 503, messagesStatus: 529, kind: "server_error", messagesKind: "overloaded_error",
	code: "overloaded", message: "the gateway is shutting down",
}

// eventOf is the error event in which a client of the path reads it.
func (want told) eventOf(path, id string) string {
	if path == messagesPath {
		return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":%q,\"message\":%q},\"request_id\":%q}\n\n", want.messagesKind, want.message, id)
	}
	return fmt.Sprintf("data: {\"error\":{\"message\":%q,\"type\":%q,\"param\":null,\"code\":%q}}\n\n", want.message, want.kind, want.code)
}

// Streams that outlived the grace period were once cut without a word.
func TestWhoStillWaitsWhenTheGracePeriodEndsIsTold(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		t.Parallel() // with the other way: what a busy machine may need are seconds
		provider := gatewaytest.NewProvider(t)
		p := startProcess(t, "grace_period 7s\nshutdown_delay 3s", w.provider("p", provider))
		ending, never, unheard := gatewaytest.NewGate(t), gatewaytest.NewGate(t), gatewaytest.NewGate(t)
		finishing, hanging := make(map[string]*stream), make(map[string]*stream)
		silent := make(map[string][]func() reply)
		for _, path := range callPaths {
			finishing[path] = p.stalled(provider, ending, path)
			hanging[path] = p.stalled(provider, never, path)
			for _, streaming := range []bool{false, true} {
				provider.Script(gatewaytest.Stall(unheard, gatewaytest.Answer()))
				silent[path] = append(silent[path], p.later(path, bodyFor(path, "m", "hello", streaming)))
				require.NoError(t, unheard.WaitArrived(waiting(t)))
			}
		}
		p.terminate()
		p.wait("shutdown scheduled")
		for _, path := range callPaths {
			assert.Equal(t, http.StatusOK, p.open(path, bodyFor(path, "m", "hello", false)).rest().status, "new requests before the grace period")
		}
		p.wait("grace period initiated")
		ending.Open()
		for _, path := range callPaths {
			assert.Equal(t, strings.Join(streams[path], ""), finishing[path].rest().body)
			whole := hanging[path].rest()
			require.NoError(t, whole.err, "the body ends in order")
			assert.Equal(t, strings.Join(streams[path][:len(streams[path])-2], "")+shuttingDown.eventOf(path, whole.id()), whole.body)
			for _, answer := range silent[path] {
				shuttingDown.assert(t, path, answer())
			}
		}
		p.assertExits()
	})
}

// A reload ends no stream, however short the grace period. What it has left
// behind is told when the process ends, though no server waits for it any more.
func TestStreamsFromBeforeAReloadAreToldAtTheEnd(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	block := direct.provider("p", provider)
	p := startProcess(t, "grace_period 1ms", block)
	never := gatewaytest.NewGate(t)
	left := p.stalled(provider, never, messagesPath)
	p.reload("grace_period 6s", block, "max_body 1MiB")
	p.wait("server shutdown") // its grace period is over
	p.terminate()
	whole := left.rest()
	require.NoError(t, whole.err)
	assert.True(t, strings.HasSuffix(whole.body, shuttingDown.eventOf(messagesPath, whole.id())), whole.body)
	p.assertExits()
}

// Where the grace period of the configuration before was over, and the new one
// has none, the process once ended without a word to those who still waited.
func TestStreamsThatNoServerWaitsForAreToldWithoutAGracePeriodToo(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	block := direct.provider("p", provider)
	p := startProcess(t, "grace_period 1ms", block)
	left := p.stalled(provider, gatewaytest.NewGate(t), chatPath)
	p.reload("", block, "max_body 1MiB")
	p.wait("server shutdown") // its grace period is over
	p.terminate()
	whole := left.rest()
	require.NoError(t, whole.err, "the body ends in order")
	assert.True(t, strings.HasSuffix(whole.body, shuttingDown.eventOf(chatPath, whole.id())), whole.body)
	p.assertExits()
}

// With a grace period that has no end nobody is sent away.
func TestWithoutAGracePeriodStreamsEndByThemselves(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	block := direct.provider("p", provider)
	p := startProcess(t, "", block)
	gate := gatewaytest.NewGate(t)
	old := p.stalled(provider, gate, messagesPath)
	p.reload("", block, "max_body 1MiB")
	open := p.stalled(provider, gate, chatPath)
	p.terminate()
	p.wait("terminating")
	gate.Open()
	assert.Equal(t, strings.Join(streams[chatPath], ""), open.rest().body)
	assert.Equal(t, strings.Join(streams[messagesPath], ""), old.rest().body, "from before a reload")
	p.assertExits()
}
