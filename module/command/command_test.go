package command

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/postgres"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/quickstart"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport"
)

// canaries are values of secret variables.
var canaries = map[string]string{
	"ANTHROPIC_API_KEY": "sk-ant-canary-0123456789", "OPENAI_API_KEY": "sk-oai-canary-0123456789",
	"GATEWAY_KEY": "sk-gateway-canary-0123456789",
}

func TestCommandIsRegistered(t *testing.T) {
	registered, ok := caddycmd.Commands()["ai-gateway"]
	require.True(t, ok)
	cmd := &cobra.Command{Use: "ai-gateway"}
	registered.CobraFunc(cmd)
	for name, standard := range map[string]string{
		"listen": "localhost:8080", "pace": "15ms", "debug": "false", "print": "false",
	} {
		flag := cmd.Flags().Lookup(name)
		if assert.NotNil(t, flag, name) {
			assert.Equal(t, standard, flag.DefValue)
		}
	}
	assert.Error(t, cmd.Args(cmd, []string{"stray"}))
}

// startGateway starts a gateway as the command does, with an empty data directory, and
// returns its banner.
func startGateway(t *testing.T, variables map[string]string) string {
	t.Helper()
	freshData(t)
	return startAgain(t, variables)
}

// startAgain is startGateway with the data directory of an earlier start.
func startAgain(t *testing.T, variables map[string]string) string {
	t.Helper()
	t.Cleanup(func() { assert.NoError(t, caddy.Stop()) })
	getenv := func(name string) string { return variables[name] }
	var banner bytes.Buffer
	require.NoError(t, quickstart.Start(quickstart.Options{Listen: "127.0.0.1:0"}, getenv, prepareLogin, &banner))
	return banner.String()
}

// logIn logs in at the gateway that printed a banner, and returns the status.
func logIn(t *testing.T, banner, name, password string) int {
	t.Helper()
	base := strings.Fields(banner)[4] // AI gateway listening on <URL>
	body := fmt.Sprintf(`{"username":%q,"password":%q}`, name, password)
	res, err := http.Post(base+"/api/user/login", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer res.Body.Close()
	return res.StatusCode
}

// The address of the console that the banner prints is that of a page.
func TestBannerNamesTheConsole(t *testing.T) {
	address := regexp.MustCompile(`\S+/console/`).FindString(startGateway(t, nil))
	res, err := http.Get(address)
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
}

var (
	curlURL    = regexp.MustCompile(`curl (\S+)`)
	curlHeader = regexp.MustCompile(`-H "([^:]+): ([^"]+)"`)
	curlBody   = regexp.MustCompile(`-d '([^']+)'`)
)

// tryIt returns the part of a banner with the request to a model.
func tryIt(banner string) string {
	_, command, _ := strings.Cut(banner, "Try it:")
	return command
}

// paste sends the request of the first curl command in a part of a banner.
func paste(t *testing.T, banner string, variables map[string]string) (int, string) {
	t.Helper()
	url, body := curlURL.FindStringSubmatch(banner), curlBody.FindStringSubmatch(banner)
	require.NotNil(t, url)
	require.NotNil(t, body)
	req, err := http.NewRequest(http.MethodPost, url[1], strings.NewReader(body[1]))
	require.NoError(t, err)
	for _, header := range curlHeader.FindAllStringSubmatch(banner, -1) {
		value := strings.ReplaceAll(header[2], "$GATEWAY_KEY", variables["GATEWAY_KEY"])
		req.Header.Set(header[1], value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(answer)
}

func TestCurlOfTheBannerWorksAsSoonAsItIsShown(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"nothing in the environment": {},
		"with providers and a key":   canaries,
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range variables {
				t.Setenv(variable, value)
			}
			banner := startGateway(t, variables)
			status, answer := paste(t, tryIt(banner), variables)
			assert.Equal(t, http.StatusOK, status, answer)
			assert.Contains(t, answer, `"chat.completion"`)

			// The banner once named only the path, which a browser cannot use.
			login, _, _ := strings.Cut(banner, "Try it:")
			status, answer = paste(t, login, nil)
			assert.Equal(t, http.StatusOK, status, answer)
			assert.Contains(t, answer, `"username":"root"`)
		})
	}
}

// The list of models once contained only "demo", so that users of a local Ollama could
// not select its models.
func TestModelsOfAnOllamaAreListedBesideTheDemo(t *testing.T) {
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Contains(t, []string{"/v1/models", "/api/ps"}, r.URL.Path)
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"tiny:latest","object":"model","created":1790000000,"owned_by":"library"}]}`)
	}))
	defer ollama.Close()
	t.Setenv("GATEWAY_KEY", canaries["GATEWAY_KEY"])
	banner := startGateway(t, map[string]string{"OLLAMA_HOST": ollama.URL, "GATEWAY_KEY": canaries["GATEWAY_KEY"]})
	req, err := http.NewRequest(http.MethodGet, strings.Fields(banner)[4]+"/v1/models", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+canaries["GATEWAY_KEY"])
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	list, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, `{"object":"list","data":[{"id":"demo","object":"model","created":0,"owned_by":"gateway"},`+
		`{"id":"tiny:latest","object":"model","created":1790000000,"owned_by":"library"}]}`, string(list))
}

func TestOtherKeysAreRefused(t *testing.T) {
	banner := startGateway(t, nil)
	wrong := regexp.MustCompile(`Bearer sk-\w+`).ReplaceAllString(banner, "Bearer "+string(aigateway.NewAPIKey()))
	status, _ := paste(t, tryIt(wrong), nil)
	assert.Equal(t, http.StatusUnauthorized, status)
}

// A browser once showed nothing at the address: the answer was empty, with status 200.
func TestPathsOutsideOfTheGatewayExplainIt(t *testing.T) {
	for name, value := range canaries {
		t.Setenv(name, value)
	}
	base := strings.Fields(startGateway(t, canaries))[4] // AI gateway listening on <URL>
	ask := func(method, path string) (status int, kind, text string) {
		req, err := http.NewRequest(method, base+path, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, res.Header.Get("Content-Type"), string(body)
	}
	status, kind, text := ask(http.MethodGet, "/")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "text/plain; charset=utf-8", kind)
	assert.Equal(t, "The AI gateway is running.\n\n"+
		"Base URL, Anthropic  "+base+"\n"+
		"Base URL, OpenAI     "+base+"/v1\n"+
		"Console              "+base+"/console/\n"+
		"All paths            "+base+"/api/openapi.json\n"+
		"Documentation        "+base+"/console/docs/\n\n"+
		"Clients need a key: the terminal shows one, and users can create keys.\n", text)
	status, kind, text = ask(http.MethodHead, "/")
	assert.Equal(t, []any{http.StatusOK, "text/plain; charset=utf-8", ""}, []any{status, kind, text})
	status, _, _ = ask(http.MethodGet, "/api/openapi.json")
	assert.Equal(t, http.StatusOK, status)
	for _, path := range []string{"/chat/completions", "/index.html", "/api/"} {
		status, _, text = ask(http.MethodGet, path)
		assert.Equal(t, http.StatusNotFound, status, path)
		assert.Contains(t, text, "Not found")
	}
}
