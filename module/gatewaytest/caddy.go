package gatewaytest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/require"
)

// running guards the one Caddy that a process can have.
var running sync.Mutex

// Caddy is a Caddy in the process of the test, with its own admin endpoint and
// data directory. Its listeners without a host are on 127.0.0.1 alone.
type Caddy struct {
	// Client calls it. It follows no redirect and knows no proxy.
	Client *http.Client
	// Logs is what it has logged, at DEBUG.
	Logs *Logs
	// Dir holds its data; modules find it by caddy.AppDataDir too.
	Dir string

	t         testing.TB
	transport *persistent // of Client
	loaded    bool        // it has had a configuration
	admin     string
	ports     map[string]int
	replace   []string
}

// StartCaddy runs Caddy with a configuration, a Caddyfile or JSON, until the
// test ends. The test's package imports the modules that it names.
//
// In the text, PORT(name) is a free port, the same for the same name, and the
// words of replace, old and new in turn, are replaced; see URL.
//
// One process has one Caddy: a second one at the same time fails its test, and
// so does a test that runs in parallel with others.
func StartCaddy(t testing.TB, config string, replace ...string) *Caddy {
	t.Helper()
	c := NewCaddy(t, replace...)
	require.NoError(t, c.Reload(config))
	return c
}

// NewCaddy is StartCaddy without a configuration: Reload brings the first one,
// and returns its error.
func NewCaddy(t testing.TB, replace ...string) *Caddy {
	t.Helper()
	require.True(t, running.TryLock(), "another Caddy is running in this process")
	client := newClient()
	c := &Caddy{
		Client: client, transport: client.Transport.(*persistent), Logs: logs, Dir: t.TempDir(), t: t,
		admin: "127.0.0.1:" + strconv.Itoa(FreePort(t)),
		ports: make(map[string]int), replace: replace,
	}
	t.Cleanup(running.Unlock)
	logs.reset()
	for _, variable := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(variable, c.Dir)
	}
	c.keepAutosave(t)
	t.Cleanup(c.Stop)
	return c
}

// keepAutosave moves the file of the last configuration, whose place Caddy
// decides when the process starts, into the data directory.
func (c *Caddy) keepAutosave(t testing.TB) {
	before := caddy.ConfigAutosavePath
	caddy.ConfigAutosavePath = c.Autosave()
	t.Cleanup(func() { caddy.ConfigAutosavePath = before })
}

// Autosave is the path of the file in which Caddy keeps its configuration.
func (c *Caddy) Autosave() string { return filepath.Join(c.Dir, "autosave.json") }

// Reload replaces the configuration; an error leaves the old one in force.
// Running requests go on under the old one. Client repeats requests that a reload
// loses.
func (c *Caddy) Reload(config string) error {
	raw, err := c.adapt(config)
	if err != nil {
		return err
	}
	c.transport.reloaded.Store(c.loaded)
	c.loaded = true
	defer c.Client.CloseIdleConnections()
	if err := caddy.Load(raw, true); err != nil {
		return fmt.Errorf("loading: %w", err)
	}
	return nil
}

// Stop ends it; the test's end does so too.
func (c *Caddy) Stop() {
	c.Client.CloseIdleConnections()
	// Stopping leaves the admin endpoint open; disabling it closes it.
	if err := caddy.Load([]byte(`{"admin":{"disabled":true,"config":{"persist":false}}}`), true); err != nil {
		c.t.Errorf("disabling the admin endpoint: %v", err)
	}
	if err := caddy.Stop(); err != nil {
		c.t.Errorf("stopping Caddy: %v", err)
	}
}

// Port returns the number of PORT(name).
func (c *Caddy) Port(name string) int {
	if _, there := c.ports[name]; !there {
		c.ports[name] = FreePort(c.t)
	}
	return c.ports[name]
}

// URL is "http://127.0.0.1:PORT(name)" with the path behind it.
func (c *Caddy) URL(name, path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s", c.Port(name), path)
}

// AdminURL is the address of the admin endpoint with the path behind it.
func (c *Caddy) AdminURL(path string) string { return "http://" + c.admin + path }

// Get calls the site and gives the answer, whose body the test closes.
func (c *Caddy) Get(url string) *http.Response {
	c.t.Helper()
	response, err := c.Client.Get(url)
	require.NoError(c.t, err)
	return response
}

// Post sends a JSON body with headers, names and values in turn, and gives the
// answer, whose body the test closes.
func (c *Caddy) Post(url, body string, headers ...string) *http.Response {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(c.t, err)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.Client.Do(request)
	require.NoError(c.t, err)
	return response
}

func newClient() *http.Client {
	return &http.Client{
		Transport:     &persistent{Transport: &http.Transport{DisableCompression: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       2 * time.Minute, // a hanging test fails before the suite does
	}
}
