package gatewaytest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	_ "github.com/caddyserver/caddy/v2/modules/logging"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

const site = `
http://127.0.0.1:PORT(site) {
	log
	respond "ANSWER"
}
`

func textOf(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

func TestCaddyRunsACaddyfileAndReloads(t *testing.T) {
	c := StartCaddy(t, site, "ANSWER", "one")
	assert.Equal(t, "one", textOf(t, c.Get(c.URL("site", "/"))))
	require.NoError(t, c.Reload("http://127.0.0.1:PORT(site)\nrespond two"))
	assert.Equal(t, "two", textOf(t, c.Get(c.URL("site", "/"))))
	require.ErrorContains(t, c.Reload("http://127.0.0.1:PORT(site)\nunknown_directive"), "unrecognized directive")
	assert.Equal(t, "two", textOf(t, c.Get(c.URL("site", "/"))), "a bad configuration changes nothing")
}

// Tests without a persistent client once failed sometimes with EOF.
func TestARequestThatAReloadLosesIsSentAgain(t *testing.T) {
	var lost atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !lost.Swap(true) {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	transport := &persistent{Transport: new(http.Transport)}
	client := &http.Client{Transport: transport}
	_, err := client.Post(server.URL, "text/plain", strings.NewReader("hello"))
	require.Error(t, err, "without a reload, a lost connection is a fault")
	lost.Store(false)
	transport.reloaded.Store(true)
	response, err := client.Post(server.URL, "text/plain", strings.NewReader("hello"))
	require.NoError(t, err)
	assert.Equal(t, "hello", textOf(t, response))
}

func TestCaddyRunsJSON(t *testing.T) {
	c := StartCaddy(t, `{"apps":{"http":{"servers":{"a":{"listen":[":PORT(site)"],
		"routes":[{"handle":[{"handler":"static_response","body":"json"}]}]}}}}}`)
	assert.Equal(t, "json", textOf(t, c.Get(c.URL("site", "/"))))
}

func TestCaddyKeepsToItsOwnAdminEndpointAndDirectory(t *testing.T) {
	c := StartCaddy(t, site)
	config := textOf(t, c.Get(c.AdminURL("/config/")))
	assert.Contains(t, config, `"ANSWER"`)
	assert.Contains(t, config, c.Dir)
	saved, err := os.ReadFile(c.Autosave())
	require.NoError(t, err)
	assert.Contains(t, string(saved), `"ANSWER"`)
	assert.Contains(t, caddy.AppDataDir(), c.Dir)
}

func TestCaddyLogsAreCapturedDownToDebugAndAccess(t *testing.T) {
	ctx := patience(t)
	c := StartCaddy(t, site)
	textOf(t, c.Get(c.URL("site", "/some/path")))
	require.NoError(t, c.Logs.Wait(ctx, "/some/path"))
	assert.NotEmpty(t, c.Logs.Entries())
	levels := make(map[any]bool)
	for _, entry := range c.Logs.Entries() {
		levels[entry["level"]] = true
	}
	assert.True(t, levels["debug"], "%v", levels)

	gone, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, c.Logs.Wait(gone, "never said"), context.Canceled)
}

// A request that outlived its Caddy once logged into the log of the next one, in which a
// test then found the record of another test.
func TestLogsOfOneTestAreNotThoseOfTheNext(t *testing.T) {
	var late io.Writer
	t.Run("one", func(t *testing.T) {
		StartCaddy(t, site)
		var err error
		late, err = new(logWriter).CaddyModule().New().(caddy.WriterOpener).OpenWriter()
		require.NoError(t, err)
	})
	t.Run("the next", func(t *testing.T) {
		c := StartCaddy(t, site)
		_, err := io.WriteString(late, "/late/path\n")
		require.NoError(t, err)
		assert.NotContains(t, c.Logs.String(), "/some/path")
		assert.NotContains(t, c.Logs.String(), "/late/path")
	})
}

func TestASecondCaddyIsRefused(t *testing.T) {
	StartCaddy(t, site)
	assert.False(t, running.TryLock())
}

func TestAStoppedCaddyAnswersNoMore(t *testing.T) {
	c := StartCaddy(t, site)
	c.Stop()
	for _, url := range []string{c.URL("site", "/"), c.AdminURL("/config/")} {
		response, err := c.Client.Get(url)
		if err == nil {
			_ = response.Body.Close()
		}
		assert.Error(t, err, url)
	}
}

func TestCaddyProxiesAProvider(t *testing.T) {
	p := NewProvider(t)
	c := StartCaddy(t, "http://127.0.0.1:PORT(site)\nreverse_proxy UPSTREAM", "UPSTREAM", p.Address())
	response := c.Post(c.URL("site", messagesPath), messagesBody, "Anthropic-Version", "2023-06-01")
	m, err := client.Messages.Read([]byte(textOf(t, response)))
	require.NoError(t, err)
	assert.True(t, m.Complete)
	assert.Equal(t, 1, p.Count())
}

func TestAConfigurationThatDoesNotAdaptIsAnError(t *testing.T) {
	_, err := Adapt("{")
	assert.Error(t, err)
	c := NewCaddy(t)
	assert.ErrorContains(t, c.Reload(`{"apps":{"nothing":{}}}`), "nothing")
}

// Caddy closes the listeners of a replaced configuration in the background. Requests after a
// reload, or after Stop, were sometimes answered by it, so that tests failed by chance.
func TestAReplacedConfigurationListensNoMore(t *testing.T) {
	c := StartCaddy(t, site, "ANSWER", "one")
	address, err := caddy.ParseNetworkAddress(strings.TrimPrefix(c.URL("site", ""), "http://"))
	require.NoError(t, err)
	old, err := address.Listen(t.Context(), 0, net.ListenConfig{}) // as that of an old configuration
	require.NoError(t, err)
	assert.Equal(t, 2, c.listening())
	replaced := make(chan error, 1)
	go func() { replaced <- c.waitClosed(1) }()
	require.NoError(t, old.(net.Listener).Close())
	assert.NoError(t, <-replaced)
	assert.Equal(t, 1, c.listening())
	c.Stop()
	assert.Zero(t, c.listening())
}
