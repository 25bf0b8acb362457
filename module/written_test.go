package module_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

// gateways are the global option and the sites of an adapted configuration.
type gateways struct {
	parts []written.Part
	runs  []string // the addresses and the configuration of each part
}

func (g *gateways) add(t *testing.T, config json.RawMessage, addresses []string) {
	t.Helper()
	var decoded gateway.Config
	require.NoError(t, json.Unmarshal(config, &decoded))
	require.NotNil(t, decoded.Written)
	g.parts = append(g.parts, written.Part{Caddyfile: decoded.Written, Addresses: addresses})
	require.Equal(t, decoded.Digest(), decoded.Written.Digest, "the lines are not stale")
	var members map[string]any
	require.NoError(t, json.Unmarshal(config, &members))
	delete(members, "written")
	text, err := json.MarshalIndent(members, "", " ")
	require.NoError(t, err)
	g.runs = append(g.runs, strings.Join(addresses, " ")+string(text))
}

// route is a route, as far as it has sites.
type route struct {
	Match  []struct{ Host []string }
	Handle []json.RawMessage
}

func (g *gateways) addRoutes(t *testing.T, server *caddyhttp.Server, routes []route, hosts []string) {
	t.Helper()
	for _, r := range routes {
		inner := hosts
		for _, match := range r.Match {
			if match.Host != nil {
				inner = match.Host
			}
		}
		for _, raw := range r.Handle {
			var handler struct {
				Handler string
				Routes  []route
			}
			require.NoError(t, json.Unmarshal(raw, &handler))
			if handler.Handler == "ai_gateway" {
				g.add(t, raw, written.Addresses(server, inner))
			}
			g.addRoutes(t, server, handler.Routes, inner)
		}
	}
}

// gatewaysOf returns the gateways of a Caddyfile.
func gatewaysOf(t *testing.T, caddyfile string) (g gateways) {
	t.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	require.NoError(t, err, caddyfile)
	type server struct {
		Listen    []string
		Routes    []route
		AutoHTTPS *caddyhttp.AutoHTTPSConfig `json:"automatic_https"`
	}
	var config struct {
		Apps struct {
			Gateway json.RawMessage `json:"ai_gateway"`
			HTTP    struct{ Servers map[string]server }
		}
	}
	require.NoError(t, json.Unmarshal(adapted, &config))
	if config.Apps.Gateway != nil {
		g.add(t, config.Apps.Gateway, nil)
	}
	port := func(s server) string { return s.Listen[0][strings.LastIndexByte(s.Listen[0], ':'):] }
	servers := slices.Collect(maps.Values(config.Apps.HTTP.Servers)) // the texts have no bind, after which Caddy orders them
	slices.SortFunc(servers, func(a, b server) int { return strings.Compare(port(a), port(b)) })
	for _, s := range servers {
		g.addRoutes(t, &caddyhttp.Server{Listen: s.Listen, AutoHTTPS: s.AutoHTTPS}, s.Routes, nil)
	}
	return g
}

// caddyfiles returns the Caddyfiles of the goldens, of the pages and of the deployments.
func caddyfiles(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, pattern := range []string{"../testdata/caddyfiles/adapt/*.caddyfiletest", "../caddyfile/deploy/*/Caddyfile"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasPrefix(filepath.Base(file), "error_") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all[file], _, _ = strings.Cut(string(text), "\n----------\n")
		}
	}
	for i, block := range blocks(t, "") {
		all[fmt.Sprintf("block %d of the pages", i+1)] = block
	}
	return all
}

// ofMatcher is the comment in place of a named matcher, whose definition is not shown.
var ofMatcher = regexp.MustCompile(` # for requests that match @.*`)

// What the console shows is a Caddyfile: adapted again, it is the same configuration, and configurations
// that differ are shown as different texts.
func TestWhatRunsIsShownAsACaddyfile(t *testing.T) {
	t.Setenv("CANARY_KEY", "sk-canary-from-the-environment")
	shown := make(map[string]string)
	for name, caddyfile := range caddyfiles(t) {
		t.Run(name, func(t *testing.T) {
			first := gatewaysOf(t, caddyfile)
			if len(first.parts) == 0 {
				return // a page about another directive
			}
			text := written.Text(first.parts)
			for _, match := range regexp.MustCompile(`(?m)^\s+url (\S+)`).FindAllStringSubmatch(caddyfile, -1) {
				t.Setenv("HIDDEN_URL", match[1]) // the only kind of hidden value of these files
			}
			again := gatewaysOf(t, text)
			assert.Equal(t, first.runs, again.runs)
			assert.Equal(t, ofMatcher.ReplaceAllString(text, ""), written.Text(again.parts))
			runs := strings.Join(first.runs, "\n")
			if other, ok := shown[text]; ok {
				assert.Equal(t, other, runs, "two configurations are shown alike")
			}
			shown[text] = runs
		})
	}
	assert.Greater(t, len(shown), 100)
}
