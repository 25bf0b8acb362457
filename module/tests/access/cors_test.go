package access_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const chatApp = "https://chat.example.com"

// Before a script sends a key, the browser sends a preflight request. It once got 405, so
// that pages of other origins could not use the gateway.
func TestBrowsersOfOtherOriginsMayAsk(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, "{\nai_gateway {\ncors *\n}\n}\n"+
		site.Block("", "cors "+chatApp, site.Direct.Provider("up", p))+
		"http://127.0.0.1:PORT(open) {\nai_gateway {\nkey other {env.CLIENT_KEY}\n"+site.DemoProvider+"\n}\n}\n")
	paths := []string{"/v1/messages", "/v1/chat/completions", "/v1/completions", "/v1/models", "/v1/models/m", "/api/user/login", "/api/token/7"}
	for _, path := range paths {
		ask := func(port, origin string) site.Reply {
			return s.Call(http.MethodOptions, s.URL(port, path), "", "Origin", origin, "Sec-Fetch-Site", "cross-site",
				"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,x-stainless-os")
		}
		got := ask("site", chatApp)
		assert.Equal(t, http.StatusNoContent, got.Status, path)
		assert.Equal(t, chatApp, got.Header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, "authorization, *", got.Header.Get("Access-Control-Allow-Headers"))
		assert.Contains(t, got.Header.Get("Access-Control-Allow-Methods"), "POST")
		assert.Equal(t, "Origin", got.Header.Get("Vary"))

		refused := ask("site", "https://evil.example")
		assert.Equal(t, http.StatusMethodNotAllowed, refused.Status, path)
		assert.Empty(t, refused.Header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, http.StatusNoContent, ask("open", "https://evil.example").Status, "the global option allows all")
	}
	assert.Zero(t, p.Count())
}

func TestScriptsOfOtherOriginsReadEveryAnswer(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "cors "+chatApp, "accounts off", site.Direct.Provider("up", p))
	for _, path := range site.CallPaths {
		for _, stream := range []bool{false, true} {
			got := s.Ask(path, site.BodyFor(path, "m", "hello", stream), "Origin", chatApp, "Sec-Fetch-Site", "cross-site")
			assert.Equal(t, http.StatusOK, got.Status)
			assert.Equal(t, []string{chatApp}, got.Header.Values("Access-Control-Allow-Origin"))
			assert.Equal(t, "*", got.Header.Get("Access-Control-Expose-Headers"))
		}
		refused := s.Ask(path, "{", "Origin", chatApp, "Authorization", "Bearer sk-unknown-0123456789")
		assert.Equal(t, http.StatusUnauthorized, refused.Status)
		assert.Equal(t, chatApp, refused.Header.Get("Access-Control-Allow-Origin"), "or the script could not tell why")
	}
	assert.Equal(t, chatApp, s.Call(http.MethodPost, s.URL("site", "/messages"), "{}", "Origin", chatApp).Header.Get("Access-Control-Allow-Origin"))
	for _, r := range p.Requests() {
		assert.Empty(t, r.Header.Get("Origin"))
	}
}

// Without cors, logins from other origins are refused. With cors, a script can log in and
// use the token; the browser's cookie is not accepted.
func TestScriptsOfOtherOriginsLogIn(t *testing.T) {
	s := site.StartCaddyfile(t, site.Block("", site.DemoProvider)+
		"http://127.0.0.1:PORT(open) {\nai_gateway {\nkey other {env.CLIENT_KEY}\n"+site.DemoProvider+"\ncors "+chatApp+"\n}\n}\n")
	s.AddUser("alice")
	logIn := func(port, origin string) site.Reply {
		return s.Call(http.MethodPost, s.URL(port, "/api/user/login"), fmt.Sprintf(`{"username":"alice","password":%q}`, site.Password),
			"Origin", origin, "Sec-Fetch-Site", "cross-site")
	}
	assert.Equal(t, http.StatusForbidden, logIn("site", chatApp).Status)
	assert.Equal(t, http.StatusForbidden, logIn("open", "https://evil.example").Status)
	got := logIn("open", chatApp)
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	token := dataField(t, got, "access_token")
	self := func(headers ...string) int {
		return s.Call(http.MethodGet, s.URL("open", "/api/user/self"), "", headers...).Status
	}
	assert.Equal(t, http.StatusOK, self("Origin", chatApp, "Authorization", "Bearer "+token))
	assert.Equal(t, http.StatusUnauthorized, self("Origin", chatApp, "Cookie", "session="+token))
	assert.Equal(t, http.StatusForbidden, self("Origin", "https://evil.example", "Cookie", "session="+token))
	assert.Equal(t, http.StatusOK, self("Origin", s.URL("open", ""), "Cookie", "session="+token), "the gateway's own pages")
}
