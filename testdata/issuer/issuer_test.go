// Package issuer_test signs in at a real OpenID provider, whose code the gateway does not share:
// it is in a module of its own, so that a build of the gateway never needs it.
package issuer_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

// provider is a running OpenID provider with the client "web" and its secret "secret".
type provider struct {
	*httptest.Server
	handler atomic.Pointer[http.Handler]
}

func startProvider(t *testing.T) *provider {
	p := new(provider)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*p.handler.Load()).ServeHTTP(w, r) }))
	t.Cleanup(p.Close)
	p.restart()
	return p
}

// restart replaces the provider by one with new keys, and without the codes of the old one.
func (p *provider) restart() {
	var handler http.Handler = exampleop.SetupServer(p.URL, storage.NewStorage(storage.NewUserStore(p.URL)), slog.New(slog.DiscardHandler), false)
	p.handler.Store(&handler)
}

// gateway is a running gateway with the issuer "zitadel".
type gateway struct {
	*gatewaytest.Caddy
	t *testing.T
}

// start runs a gateway; lines are further lines of the issuer.
func start(t *testing.T, p *provider, lines ...string) *gateway {
	t.Setenv("OIDC_SECRET", "secret")
	c := gatewaytest.StartCaddy(t, `http://:PORT(site) {
		ai_gateway {
			provider demo
			accounts {
				oidc `+p.URL+` {
					name zitadel
					client_id web
					client_secret {env.OIDC_SECRET}
					create user
					`+strings.Join(lines, "\n")+`
				}
				agents
			}
		}
	}`)
	storage.RegisterClients(storage.WebClient("web", "secret", c.URL("site", "/api/v1/signin/zitadel/callback")))
	return &gateway{c, t}
}

// browser is a browser of a person. It follows redirections up to a callback of the gateway.
type browser struct {
	*http.Client
	g *gateway
}

func (g *gateway) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(g.t, err)
	return &browser{&http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/callback") && strings.HasPrefix(r.URL.Path, "/api/v1/signin/") {
			return http.ErrUseLastResponse
		}
		return nil
	}}, g}
}

// get returns the address at which the browser arrives, and the page there.
func (b *browser) get(address string) (at *url.URL, page string) {
	b.g.t.Helper()
	return b.read(b.Get(address))
}

func (b *browser) read(answer *http.Response, err error) (*url.URL, string) {
	b.g.t.Helper()
	require.NoError(b.g.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(b.g.t, err)
	if to, err := answer.Location(); err == nil {
		return to, ""
	}
	return answer.Request.URL, string(text)
}

// authorize begins a sign-in, types name and password at the provider, and returns the callback.
func (b *browser) authorize(name string) *url.URL {
	b.g.t.Helper()
	form, page := b.get(b.g.URL("site", "/api/v1/signin/zitadel"))
	require.Equal(b.g.t, "/login/username", form.Path, page)
	callback, page := b.read(b.PostForm(form.String(), url.Values{
		"username": {name}, "password": {"verysecure"}, "id": {form.Query().Get("authRequestID")},
	}))
	require.Equal(b.g.t, "/api/v1/signin/zitadel/callback", callback.Path, page)
	return callback
}

// finish follows a callback, and returns where the gateway leads to, such as "/console/".
func (b *browser) finish(callback *url.URL) string {
	b.g.t.Helper()
	at, _ := b.get(callback.String())
	return strings.TrimPrefix(at.String(), b.g.URL("site", ""))
}

// self returns the name of the user of the session, "" without one.
func (b *browser) self() string {
	b.g.t.Helper()
	_, page := b.get(b.g.URL("site", "/api/user/self"))
	var answer struct{ Data struct{ Username string } }
	require.NoError(b.g.t, json.Unmarshal([]byte(page), &answer), page)
	return answer.Data.Username
}

const home = "/console/"

func failed(code string) string { return home + "?signin=" + code }

func TestAPersonSignsInAtARealProvider(t *testing.T) {
	g := start(t, startProvider(t))
	b := g.browser()
	callback := b.authorize("test-user2")
	assert.Equal(t, home, b.finish(callback))
	assert.Equal(t, "test-user2", b.self(), "the provider has the name at its userinfo endpoint alone")
	assert.Equal(t, failed("expired"), b.finish(callback), "a second time")

	other := g.browser()
	assert.Equal(t, failed("expired"), other.finish(other.authorize("test-user2").ResolveReference(callback)), "the answer of another sign-in")
	assert.Empty(t, other.self())
	assert.NotContains(t, g.Logs.String(), callback.Query().Get("code"))
}

// A coding agent shows a code, which the person types who has signed in at the provider.
func TestAnAgentSignsInAsAPersonOfTheProvider(t *testing.T) {
	g := start(t, startProvider(t))
	b := g.browser()
	require.Equal(t, home, b.finish(b.authorize("test-user2")))
	post := func(client *http.Client, path, kind, body string) map[string]string {
		answer, err := client.Post(g.URL("site", path), kind, strings.NewReader(body))
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Less(t, answer.StatusCode, http.StatusMultipleChoices, string(text))
		var members map[string]any
		_ = json.Unmarshal(text, &members) // some answers have no body
		texts := make(map[string]string)
		for name, value := range members {
			texts[name], _ = value.(string)
		}
		return texts
	}
	const form = "application/x-www-form-urlencoded"
	begun := post(http.DefaultClient, "/oauth/device_authorization", form, "surface=claude_code")
	post(b.Client, "/api/v1/device/answer", "application/json", `{"code":"`+begun["user_code"]+`","confirm":true}`)
	tokens := post(http.DefaultClient, "/oauth/token", form, "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code="+begun["device_code"])
	assert.Equal(t, "test-user2", tokens["email"])
	request, err := http.NewRequest(http.MethodPost, g.URL("site", "/v1/messages"), strings.NewReader(`{"model":"demo","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`))
	require.NoError(t, err)
	request.Header = http.Header{"Authorization": {"Bearer " + tokens["access_token"]}, "Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, http.StatusOK, answer.StatusCode)
}

func TestTheVerifiedAddressIsTheName(t *testing.T) {
	g := start(t, startProvider(t), "claim name email")
	b := g.browser()
	require.Equal(t, home, b.finish(b.authorize("test-user@127.0.0.1")))
	assert.Equal(t, "test-user@zitadel.ch", b.self())
}

func TestTheProviderRestartsAndGoesAway(t *testing.T) {
	p := startProvider(t)
	g := start(t, p)
	first := g.browser()
	require.Equal(t, home, first.finish(first.authorize("test-user2")))
	p.restart()
	second := g.browser()
	require.Equal(t, failed("invalid"), second.finish(second.authorize("test-user2")), "it is asked for new keys once a minute")
	callback := second.authorize("test-user2")
	p.restart()
	assert.Equal(t, failed("expired"), second.finish(callback), "a code that the provider has forgotten")

	callback = second.authorize("test-user2")
	p.Close()
	assert.Equal(t, failed("away"), second.finish(callback))
	assert.Equal(t, "test-user2", first.self(), "sessions go on")
}

func TestAWrongSecretIsNamedInTheLog(t *testing.T) {
	p := startProvider(t)
	g := start(t, p)
	storage.RegisterClients(storage.WebClient("web", "another secret", g.URL("site", "/api/v1/signin/zitadel/callback")))
	b := g.browser()
	assert.Equal(t, failed("invalid"), b.finish(b.authorize("test-user2")))
	assert.Contains(t, g.Logs.String(), "invalid_client")
}

// The provider compares the callback with what is registered: nobody can have answers sent
// elsewhere.
func TestTheProviderRefusesOtherCallbacks(t *testing.T) {
	g := start(t, startProvider(t))
	request, err := http.NewRequest(http.MethodGet, g.URL("site", "/api/v1/signin/zitadel"), nil)
	require.NoError(t, err)
	request.Host = "evil.example"
	b := g.browser()
	at, page := b.read(b.Do(request))
	assert.NotEqual(t, "/login/username", at.Path)
	assert.Contains(t, page, "redirect_uri")
}
