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

// running is locked while a Caddy runs, of which a process can have one.
var running sync.Mutex

// Caddy is a Caddy in the process of the test, with its own admin endpoint and data
// directory. Listeners without a host listen only on 127.0.0.1.
type Caddy struct {
	// Client sends requests to the sites. It follows no redirects and uses no proxy.
	Client *http.Client
	// Logs contains all log entries, from DEBUG up.
	Logs *Logs
	// Dir is the data directory. caddy.AppDataDir returns a path in it.
	Dir string

	t         testing.TB
	transport *persistent // the transport of Client
	loaded    bool        // a configuration was loaded before
	admin     string
	ports     map[string]int
	replace   []string
}

// StartCaddy runs Caddy with a configuration, a Caddyfile or JSON, until the test ends.
// The package of the test imports the modules of the configuration.
//
// In the configuration, PORT(name) is a free port, which is the same for the same name;
// see URL. replace contains pairs of texts to replace in the configuration, old and new.
//
// A process can have only one Caddy at a time. StartCaddy fails the test if another Caddy
// runs, or if the test runs in parallel with others.
func StartCaddy(t testing.TB, config string, replace ...string) *Caddy {
	t.Helper()
	c := NewCaddy(t, replace...)
	require.NoError(t, c.Reload(config))
	return c
}

// NewCaddy is StartCaddy without a configuration. Reload loads the first one, and returns
// its error.
func NewCaddy(t testing.TB, replace ...string) *Caddy {
	t.Helper()
	require.True(t, running.TryLock(), "another Caddy is running in this process")
	logs = newLogs()
	client := newClient()
	c := &Caddy{
		Client: client, transport: client.Transport.(*persistent), Logs: logs, Dir: t.TempDir(), t: t,
		admin: "127.0.0.1:" + strconv.Itoa(FreePort(t)),
		ports: make(map[string]int), replace: replace,
	}
	t.Cleanup(running.Unlock)
	for _, variable := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(variable, c.Dir)
	}
	c.keepAutosave(t)
	t.Cleanup(c.Stop)
	return c
}

// keepAutosave moves the autosaved configuration into the data directory. Caddy itself
// determines its path when the process starts.
func (c *Caddy) keepAutosave(t testing.TB) {
	previous := caddy.ConfigAutosavePath
	caddy.ConfigAutosavePath = c.Autosave()
	t.Cleanup(func() { caddy.ConfigAutosavePath = previous })
}

// Autosave returns the path of the autosaved configuration.
func (c *Caddy) Autosave() string { return filepath.Join(c.Dir, "autosave.json") }

// Reload replaces the configuration. After an error, the old configuration stays in
// effect. Running requests continue with the old configuration, and all later ones use the
// new one. Client repeats requests whose connection a reload has closed.
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
	return c.waitClosed(1)
}

// Stop stops Caddy. The end of the test also stops it.
func (c *Caddy) Stop() {
	c.Client.CloseIdleConnections()
	// caddy.Stop does not close the admin endpoint, but disabling the endpoint does.
	if err := caddy.Load([]byte(`{"admin":{"disabled":true,"config":{"persist":false}}}`), true); err != nil {
		c.t.Errorf("disabling the admin endpoint: %v", err)
	}
	if err := caddy.Stop(); err != nil {
		c.t.Errorf("stopping Caddy: %v", err)
	}
	if err := c.waitClosed(0); err != nil {
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

// URL returns "http://127.0.0.1:PORT(name)", followed by the path.
func (c *Caddy) URL(name, path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s", c.Port(name), path)
}

// AdminURL returns the URL of the admin endpoint, followed by the path.
func (c *Caddy) AdminURL(path string) string { return "http://" + c.admin + path }

// Get sends a GET request and returns the answer. The test closes its body.
func (c *Caddy) Get(url string) *http.Response {
	c.t.Helper()
	response, err := c.Client.Get(url)
	require.NoError(c.t, err)
	return response
}

// Post sends a JSON body and returns the answer. headers are pairs of names and values.
// The test closes the body of the answer.
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
		Timeout:       2 * time.Minute, // a request that hangs fails its own test, not the whole suite
	}
}
