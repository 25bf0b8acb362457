package access_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startServerOfTools starts a server of tools that keeps the headers of its last request.
func startServerOfTools(t *testing.T) (address string, last *atomic.Pointer[http.Header]) {
	last = new(atomic.Pointer[http.Header])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(&r.Header)
		if r.Header.Get("Authorization") == "Bearer exchanged-1" && r.Header.Get("Traceparent") != "" { // as revoked
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, last
}

// ping sends a message to the server up.
func ping(s *site.Site, key string, headers ...string) site.Reply {
	return s.Call(http.MethodPost, s.URL("site", "/mcp/up"), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, append([]string{"Authorization", "Bearer " + key}, headers...)...)
}

// tokensOf returns the lines of a site whose keys are tokens of an issuer.
func tokensOf(issuer string) string {
	return "keys jwt {\nissuer " + issuer + "\naudience llm-gateway\nclaim owner sub\ngroup staff {\nmcp up\n}\n}"
}

// A server saw the gateway alone, whoever called it.
func TestAServerLearnsWhoCallsIt(t *testing.T) {
	site.SetKeys(t)
	for line, want := range map[string]string{"caller X-User claim sub": "dave", "caller x-user owner": "dave", "caller X-User claim exp": "^[0-9]+$", "caller X-User claim groups": "", "caller X-User claim nothing": ""} {
		t.Run(line, func(t *testing.T) {
			issuer, token := startIssuer(t)
			server, last := startServerOfTools(t)
			s := site.StartCaddyfile(t, site.Block("", site.DemoProvider, tokensOf(issuer), "key alice {env.KEY_ALICE} {\nmcp up\n}", "mcp up {\nto "+server+"\n"+line+"\n}"))
			answer := ping(s, token("dave", "staff", time.Hour), "X-User", "root")
			if want == "" {
				assert.Equal(t, http.StatusForbidden, answer.Status, answer.Body)
				assert.Contains(t, answer.Body, "needs to know the user")
				assert.Nil(t, last.Load(), "a server that takes nobody for somebody is not asked")
				return
			}
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			require.Len(t, (*last.Load())["X-User"], 1)
			assert.Regexp(t, want, (*last.Load()).Get("X-User"))
			assert.Equal(t, http.StatusForbidden, ping(s, site.AliceKey).Status, "a key without an owner, and without a token")
		})
	}
}

// A client with a key chose its name at the server, by a token of its own making in front of the key: what is in
// another scheme of Authorization is no credential, and was not verified.
func TestATokenThatIsNotTheCredentialNamesNobody(t *testing.T) {
	site.SetKeys(t)
	issuer, _ := startIssuer(t)
	server, last := startServerOfTools(t)
	s := site.StartCaddyfile(t, site.Block("", site.DemoProvider, tokensOf(issuer), "key alice {env.KEY_ALICE} {\nmcp up\n}", "mcp up {\nto "+server+"\ncaller X-User claim sub\n}"))
	made := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+issuer+`","sub":"root"}`)) + ".x"
	answer := s.Raw(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "POST /mcp/up HTTP/1.1", "Content-Type: application/json",
		"Authorization: Basic "+made, "Authorization: Bearer "+site.AliceKey)
	assert.Equal(t, http.StatusForbidden, answer.Status, answer.Body)
	assert.Contains(t, answer.Body, "needs to know the user")
	assert.Nil(t, last.Load())
}

// All clients of a server had the same rights there (RFC 8693).
func TestATokenIsExchangedForOneOfTheServer(t *testing.T) {
	site.SetKeys(t)
	t.Setenv("EXCHANGE_SECRET", "secret of:the gateway")
	issuer, token := startIssuer(t)
	server, last := startServerOfTools(t)
	var asked []url.Values
	answers := func(w http.ResponseWriter, n int) {
		_, _ = fmt.Fprintf(w, `{"access_token":"exchanged-%d","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"bearer","expires_in":3600}`, n)
	}
	exchange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, secret, _ := r.BasicAuth()
		secret, _ = url.QueryUnescape(secret)
		assert.Equal(t, "gateway secret of:the gateway", user+" "+secret)
		assert.NoError(t, r.ParseForm())
		asked = append(asked, r.PostForm)
		answers(w, len(asked))
	}))
	t.Cleanup(exchange.Close)
	s := site.StartCaddyfile(t, site.Block("", site.DemoProvider, tokensOf(issuer), "key alice {env.KEY_ALICE} {\nmcp up\n}",
		"mcp up {\nto "+server+"\nauth exchange "+exchange.URL+"/token {\nclient gateway {env.EXCHANGE_SECRET}\naudience tickets\nscope read write\n}\n}"))
	dave, erin := token("dave", "staff", time.Hour), token("erin", "staff", time.Hour)
	for _, want := range []struct{ key, token string }{{dave, "exchanged-1"}, {dave, "exchanged-1"}, {erin, "exchanged-2"}, {dave, "exchanged-1"}} {
		answer := ping(s, want.key)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, []string{"Bearer " + want.token}, (*last.Load())["Authorization"])
	}
	const accessToken = "urn:ietf:params:oauth:token-type:access_token"
	assert.Equal(t, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {dave}, "subject_token_type": {accessToken},
		"requested_token_type": {accessToken}, "audience": {"tickets"}, "scope": {"read write"},
	}, asked[0])
	assert.Equal(t, http.StatusForbidden, ping(s, site.AliceKey).Status)
	require.Len(t, asked, 2, "the issuer does not get the key of a client that has no token")

	// A token that the server had revoked was used until its end.
	assert.Equal(t, http.StatusBadGateway, ping(s, dave, "Traceparent", "x").Status)
	require.Equal(t, http.StatusOK, ping(s, dave).Status)
	assert.Equal(t, []string{"Bearer exchanged-3"}, (*last.Load())["Authorization"])

	last.Store(nil)
	frank := token("frank", "staff", time.Hour)
	for answer, want := range map[string]int{
		`400 {"error":"invalid_grant","error_description":"` + frank + `"}`: http.StatusForbidden,
		`500 no`: http.StatusBadGateway, `200 {"access_token":"x","token_type":"mac"}`: http.StatusBadGateway, `200 {`: http.StatusBadGateway,
	} {
		answers = func(w http.ResponseWriter, _ int) {
			status, text, _ := strings.Cut(answer, " ")
			w.WriteHeader(map[string]int{"400": 400, "500": 500, "200": 200}[status])
			_, _ = w.Write([]byte(text))
		}
		refused := ping(s, frank)
		assert.Equal(t, want, refused.Status, refused.Body)
		assert.NotContains(t, refused.Body, exchange.URL)
	}
	assert.Nil(t, last.Load())
	answers = func(w http.ResponseWriter, n int) {
		_, _ = fmt.Fprintf(w, `{"access_token":"exchanged-%d","token_type":"Bearer"}`, n)
	}
	before := len(asked)
	for range 2 {
		assert.Equal(t, http.StatusOK, ping(s, frank).Status)
	}
	assert.Len(t, asked, before+2, "a token of unknown time is used once")
	for _, secret := range []string{"exchanged-", "secret of", dave[len(dave)-80:], frank[len(frank)-80:]} {
		assert.NotContains(t, s.Logs.String(), secret)
	}
}

// Only root on the machine could accept what a server had changed; administrators saw an alert, and nothing to do.
func TestAnAdministratorAcceptsAChangedTool(t *testing.T) {
	site.SetKeys(t)
	var tools atomic.Pointer[string]
	has := func(list string) { tools.Store(&list) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"tools":[%s]}}`, *tools.Load())
	}))
	t.Cleanup(server.Close)
	s := site.StartCaddyfile(t, "{\nstorage file_system "+t.TempDir()+"\nai_gateway {\nstore sqlite "+t.TempDir()+"/gateway.db\naccounts\n}\n}\n"+
		site.Block("", site.DemoProvider, "key alice {env.KEY_ALICE} {\nmcp up\n}", "mcp up {\nto "+server.URL+"\npin block\n}"))
	s.AddUser("carol")
	require.Equal(t, http.StatusOK, s.Call(http.MethodPatch, s.AdminURL("/api/v1/users/carol"), `{"role":"admin"}`).Status)
	carol := logInAs(s, "site", "carol")
	list := func() string {
		return s.Call(http.MethodPost, s.URL("site", "/mcp/up"), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Authorization", "Bearer "+site.AliceKey).Body
	}
	for _, description := range []string{"adds", "sends"} {
		has(`{"name":"a","description":"` + description + `"},{"name":"b"}`)
		list()
	}
	assert.NotContains(t, list(), `"sends"`)
	shown := carol.ask(http.MethodGet, "/api/v1/mcp", "")
	assert.JSONEq(t, `{"items":[{"name":"up","era":"auto","pin":"block","tools":2,"changed":["a"]}],"next":""}`, shown.Body)
	assert.Equal(t, http.StatusNotFound, carol.ask(http.MethodPost, "/api/v1/mcp/accept?server=other", "").Status)
	assert.JSONEq(t, `{"accepted":["a"]}`, carol.ask(http.MethodPost, "/api/v1/mcp/accept?server=up&tool=a", "").Body)
	assert.Contains(t, list(), `"sends"`)
	rows := s.Call(http.MethodGet, s.AdminURL("/api/v1/audit?action=mcp.accept"), "").Body
	assert.Equal(t, 1, strings.Count(rows, `"object":"mcp/up/a"`), rows)
	assert.Contains(t, rows, `"actor":"user/carol"`)
}
