package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/forwardauth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// postForm sends a form without a key, and returns the status and the members of the answer.
func postForm(s *site.Site, path string, form url.Values) (int, map[string]any) {
	s.T.Helper()
	got := s.Call(http.MethodPost, s.URL("site", path), form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var members map[string]any
	require.NoError(s.T, json.Unmarshal([]byte(got.Body), &members), got.Body)
	return got.Status, members
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// A program that a person has let in works as the person, until the person is disabled. A page of
// another site, which the browser gives the session of the person, lets nothing in.
func TestAnAgentWorksAsThePersonUntilThePersonIsDisabled(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "store sqlite "+t.TempDir()+"/gateway.db\naccounts {\nagents\n}")
	s.AddUser("alice")
	_, begun := postForm(s, "/oauth/device_authorization", nil)
	body := `{"code":"` + begun["user_code"].(string) + `","confirm":true}`
	login := s.Call(http.MethodPost, s.URL("site", "/api/v1/session"), `{"username":"alice","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, login.Status, login.Body)
	cookie, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
	answer := func(headers ...string) int {
		return s.Call(http.MethodPost, s.URL("site", "/api/v1/device/answer"), body, headers...).Status
	}
	for _, fetched := range []string{"cross-site", "same-site"} {
		assert.Equal(t, http.StatusForbidden, answer("Cookie", cookie, "Sec-Fetch-Site", fetched))
	}
	assert.Equal(t, http.StatusForbidden, answer("Cookie", cookie, "Origin", "https://evil.example"))
	assert.Equal(t, http.StatusUnauthorized, answer())
	require.Equal(t, http.StatusNoContent, answer("Cookie", cookie, "Sec-Fetch-Site", "same-origin"))

	status, tokens := postForm(s, "/oauth/token", url.Values{"grant_type": {deviceGrant}, "device_code": {begun["device_code"].(string)}})
	require.Equal(t, http.StatusOK, status, tokens)
	bearer := []string{"Authorization", "Bearer " + tokens["access_token"].(string)}
	ask := func() int {
		return s.Call(http.MethodPost, s.URL("site", "/v1/chat/completions"), `{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`, bearer...).Status
	}
	assert.Equal(t, http.StatusOK, ask())
	disabled := s.Call(http.MethodPatch, s.AdminURL("/api/v1/users/alice"), `{"disabled":true}`)
	require.Equal(t, http.StatusOK, disabled.Status, disabled.Body)
	assert.Equal(t, http.StatusUnauthorized, ask())
	status, refused := postForm(s, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}})
	assert.Equal(t, []any{http.StatusUnauthorized, "invalid_grant"}, []any{status, refused["error"]})
	for _, secret := range []string{tokens["access_token"].(string), tokens["refresh_token"].(string), begun["device_code"].(string), begun["user_code"].(string)} {
		assert.NotContains(t, s.Logs.String(), secret)
	}
}

// Claude Code took Caddy's empty 200 for a gateway that signs people in.
func TestASiteWithoutAgentsHasNoPathsOfTheirSignIn(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "accounts {\n}")
	for _, path := range []string{"/protocol", "/.well-known/oauth-authorization-server", "/oauth/device_authorization", "/oauth/token", "/managed/settings", "/api/oauth/usage"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			got := s.Call(method, s.URL("site", path), "", "Anthropic-Version", "2023-06-01")
			assert.Equal(t, http.StatusNotFound, got.Status, path)
			assert.Contains(t, got.Body, "the gateway does not serve", path)
		}
	}
}

// Behind a proxy that ends TLS, programs got addresses with http and the inner name of the gateway.
func TestAgentsGetThePublicURL(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "public_url https://ai.example.com/base/", "store sqlite "+t.TempDir()+"/gateway.db\naccounts {\nagents\n}")
	_, begun := postForm(s, "/oauth/device_authorization", nil)
	assert.Equal(t, "https://ai.example.com/base/device", begun["verification_uri"])
	var metadata map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.Call(http.MethodGet, s.URL("site", "/.well-known/oauth-authorization-server"), "").Body), &metadata))
	for member, want := range map[string]string{
		"issuer": "", "device_authorization_endpoint": "/oauth/device_authorization", "token_endpoint": "/oauth/token", "revocation_endpoint": "/oauth/revoke",
	} {
		assert.Equal(t, "https://ai.example.com/base"+want, metadata[member], member)
	}
}

// letIn signs in a program of alice, and returns her session, and the token of the program.
func letIn(s *site.Site) (cookie, token string) {
	s.T.Helper()
	_, begun := postForm(s, "/oauth/device_authorization", nil)
	login := s.Call(http.MethodPost, s.URL("site", "/api/v1/session"), `{"username":"alice","password":"`+site.Password+`"}`)
	require.Equal(s.T, http.StatusOK, login.Status, login.Body)
	cookie, _, _ = strings.Cut(login.Header.Get("Set-Cookie"), ";")
	confirmed := s.Call(http.MethodPost, s.URL("site", "/api/v1/device/answer"), `{"code":"`+begun["user_code"].(string)+`","confirm":true}`, "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
	require.Equal(s.T, http.StatusNoContent, confirmed.Status, confirmed.Body)
	_, tokens := postForm(s, "/oauth/token", url.Values{"grant_type": {deviceGrant}, "device_code": {begun["device_code"].(string)}})
	return cookie, tokens["access_token"].(string)
}

// costly is an answer of twenty tokens, each of which costs a dollar.
var costly = gatewaytest.Body(200, "application/json", []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"m",
	"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":20}}`))

// agentsAt returns the lines of a site in which a program may sign in, and ask a provider that always answers the same.
func agentsAt(t *testing.T, answer gatewaytest.Step, accounts string, limits ...string) []string {
	p := gatewaytest.NewProvider(t)
	p.Always(answer)
	return append(limits, site.Direct.Provider("p", p, "format messages", "price m input 0 output 1000000"),
		"store sqlite "+t.TempDir()+"/gateway.db", "ledger {\njournal "+t.TempDir()+"/journal\n}", "accounts {\nagents\n"+accounts+"\n}")
}

// shown returns the headers of an answer with the use of a budget, without their beginning.
func shown(got site.Reply) map[string]string {
	headers := make(map[string]string)
	for name, values := range got.Header {
		if of, ok := strings.CutPrefix(name, "Anthropic-Ratelimit-Unified-"); ok {
			headers[of] = values[0]
		}
	}
	return headers
}

// A person saw nothing of a budget in the program before it was used up.
func TestAProgramThatHasSignedInShowsTheBudgetOfItsPerson(t *testing.T) {
	s := site.Start(t, agentsAt(t, costly, "limit person", "limit person {\nper user\nwithin all\nbudget 25/month\n}", "limit all {\nper gateway\nbudget 26/day\n}", "limit soft {\nbudget 1/day soft\n}")...)
	s.AddUser("alice")
	cookie, token := letIn(s)
	ask := func(credential string) site.Reply {
		return s.Call(http.MethodPost, s.URL("site", "/v1/messages"), `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hello"}]}`,
			"Authorization", "Bearer "+credential, "Anthropic-Version", "2023-06-01")
	}
	usage := func() string {
		got := s.Call(http.MethodGet, s.URL("site", "/api/oauth/usage"), "", "Authorization", "Bearer "+token)
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		assert.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		return got.Body
	}
	now := time.Now().UTC()
	renews := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	want := map[string]string{
		"Status": "allowed", "Overage-Status": "allowed", "Representative-Claim": "overage", "Overage-Utilization": "0",
		"Reset": strconv.FormatInt(renews.Unix(), 10), "Overage-Reset": strconv.FormatInt(renews.Unix(), 10),
	}
	first := ask(token)
	require.Equal(t, http.StatusOK, first.Status, first.Body)
	assert.Equal(t, want, shown(first))
	const row = `{"extra_usage":{"is_enabled":true,"monthly_limit":2500,"used_credits":%d,"utilization":%d,"currency":"USD"},
		"limits":[{"kind":"spend","group":"monthly","percent":%d,"resets_at":"%s","severity":%q,"is_active":true}]}`
	at := renews.Format(time.RFC3339)
	assert.JSONEq(t, fmt.Sprintf(row, 2000, 80, 80, at, "warning"), usage())

	want["Status"], want["Overage-Status"], want["Overage-Utilization"], want["Overage-Surpassed-Threshold"] = "allowed_warning", "allowed_warning", "0.8", "0.75"
	assert.Equal(t, want, shown(ask(token)))
	made := s.Call(http.MethodPost, s.URL("site", "/api/v1/keys"), `{"name":"own"}`, "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
	var own struct{ Key string }
	require.NoError(t, json.Unmarshal([]byte(made.Body), &own), made.Body)

	refused := ask(token)
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Equal(t, map[string]string{
		"Status": "rejected", "Overage-Utilization": "1.6", "Overage-Surpassed-Threshold": "1", "Overage-Period": "monthly",
		"Overage-Disabled-Reason": "org_spend_cap_reached", "Reset": want["Reset"], "Overage-Reset": want["Reset"],
	}, shown(refused))
	assert.JSONEq(t, fmt.Sprintf(row, 4000, 160, 160, at, "critical"), usage())
	spent := usage()
	_, token = letIn(s)
	assert.Equal(t, spent, usage(), "another program of the person has the same budget")
	plain := ask(own.Key)
	assert.Equal(t, http.StatusTooManyRequests, plain.Status)
	assert.Empty(t, shown(plain), "only programs that have signed in get these headers")
}

// A budget ends with a request that may cost more than is left: Claude Code reported that the server is
// temporarily limiting requests, which is not the usage limit of its person.
func TestAProgramThatHasSignedInKnowsARefusalByABudget(t *testing.T) {
	s := site.Start(t, agentsAt(t, costly, "limit person", "limit person {\nper user\nbudget 25/month\n}")...)
	s.AddUser("alice")
	_, token := letIn(s)
	ask := func(tokens int) site.Reply {
		return s.Call(http.MethodPost, s.URL("site", "/v1/messages"), fmt.Sprintf(`{"model":"m","max_tokens":%d,"messages":[{"role":"user","content":"Hello"}]}`, tokens),
			"Authorization", "Bearer "+token, "Anthropic-Version", "2023-06-01")
	}
	refusal := map[string]string{"Overage-Disabled-Reason": "org_spend_cap_reached"}
	assert.Equal(t, refusal, shown(ask(30)), "more than the budget")
	require.Equal(t, http.StatusOK, ask(5).Status)
	assert.Equal(t, refusal, shown(ask(10)), "more than is left")
	require.Equal(t, http.StatusOK, ask(5).Status)
	assert.Equal(t, "rejected", shown(ask(5))["Status"])
}

// Claude Code counted the costs of a session at prices that were not those of the gateway.
func TestSettingsHaveThePricesOfTheSite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "format messages", "price m-* input 2 output 10 cache_read 0.5 cache_write 2.5", "price euro input 1 output 1 currency EUR"),
		"model fast {\nto p/m-1\n}", "model other {\nto p/unknown\n}", "model euro {\nto p/euro\n}",
		"store sqlite "+t.TempDir()+"/gateway.db", "accounts {\nagents {\nsettings "+file+"\n}\n}")
	s.AddUser("alice")
	_, token := letIn(s)
	got := s.Call(http.MethodGet, s.URL("site", "/managed/settings"), "", "Authorization", "Bearer "+token)
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	var answer struct{ Settings json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(got.Body), &answer))
	assert.JSONEq(t, `{"modelPricing":{"overrides":{"fast":{"input":2,"output":10,"cacheRead":0.5,"cacheWrite":2.5}}}}`, string(answer.Settings))
}

// A sign-in that had not been used for an hour was shown as expired, although its program could go on with it
// for days.
func TestAPersonSeesAndEndsTheSignInsOfPrograms(t *testing.T) {
	s := site.Start(t, agentsAt(t, costly, "")...)
	s.AddUser("alice")
	s.AddUser("bob")
	cookie, token := letIn(s)
	_, other := letIn(s)
	works := func(token string) int {
		return s.Call(http.MethodPost, s.URL("site", "/v1/messages"), `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hello"}]}`,
			"Authorization", "Bearer "+token, "Anthropic-Version", "2023-06-01").Status
	}
	require.Equal(t, []int{http.StatusOK, http.StatusOK}, []int{works(token), works(other)})
	as := func(cookie, method, path, body string) site.Reply {
		return s.Call(method, s.URL("site", path), body, "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
	}
	var keys struct {
		Items []struct {
			ID      int64
			Name    string
			Expires time.Time
		}
	}
	require.NoError(t, json.Unmarshal([]byte(as(cookie, http.MethodGet, "/api/v1/keys?sort=created", "").Body), &keys))
	require.Len(t, keys.Items, 2)
	assert.WithinDuration(t, time.Now().Add(7*24*time.Hour), keys.Items[0].Expires, time.Minute)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, as(cookie, http.MethodGet, "/api/v1/usage?by=key", "").Body, fmt.Sprintf(`"key":"key_%d"`, keys.Items[0].ID))
	}, site.Patience, site.PollEvery, "the ledger writes a moment later")

	path := fmt.Sprint("/api/v1/keys/", keys.Items[0].ID)
	login := s.Call(http.MethodPost, s.URL("site", "/api/v1/session"), `{"username":"bob","password":"`+site.Password+`"}`)
	stranger, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		assert.Equal(t, http.StatusNotFound, as(stranger, method, path, "").Status)
	}
	assert.Equal(t, http.StatusOK, as(cookie, http.MethodPatch, path, `{"name":"laptop"}`).Status)
	// A key with another secret went on without the program, whose next refresh replaced the secret; with another
	// expiry, it had an access token without an end.
	for _, c := range []struct{ method, path, body, want string }{
		{http.MethodPatch, path, `{"expires":"2099-12-31"}`, "delete the key to end the sign-in"},
		{http.MethodPatch, path, `{"expires":""}`, "delete the key to end the sign-in"},
		{http.MethodPost, path + "/rotation", `{}`, "cannot be rotated"},
		{http.MethodPost, path + "/rotation", `{"overlap":"24h"}`, "cannot be rotated"},
	} {
		refused := as(cookie, c.method, c.path, c.body)
		assert.Equal(t, http.StatusBadRequest, refused.Status, c.body)
		assert.Contains(t, refused.Body, c.want)
	}
	byNewAPI := as(cookie, http.MethodPut, "/api/token/", fmt.Sprintf(`{"id":%d,"expired_time":-1}`, keys.Items[0].ID))
	assert.Contains(t, byNewAPI.Body, "delete the key to end the sign-in")
	// The paths of new-api showed the end of the access token, and a client that sent back the expiry that it had
	// read was refused.
	assert.Contains(t, as(cookie, http.MethodGet, fmt.Sprint("/api/token/", keys.Items[0].ID), "").Body,
		fmt.Sprintf(`"expired_time":%d,`, keys.Items[0].Expires.Unix()))
	same := as(cookie, http.MethodPut, "/api/token/", fmt.Sprintf(`{"id":%d,"expired_time":%d}`, keys.Items[0].ID, keys.Items[0].Expires.Unix()))
	assert.Contains(t, same.Body, `"success":true`)
	same = as(cookie, http.MethodPatch, path, fmt.Sprintf(`{"expires":%q}`, keys.Items[0].Expires.Format(time.RFC3339Nano)))
	assert.Equal(t, http.StatusOK, same.Status, same.Body)
	assert.Equal(t, []int{http.StatusOK, http.StatusOK}, []int{works(token), works(other)})
	assert.Equal(t, http.StatusNoContent, as(cookie, http.MethodDelete, path, "").Status)
	assert.Equal(t, []int{http.StatusUnauthorized, http.StatusOK}, []int{works(token), works(other)}, "the other program stays")
}

// With the share of a budget on an error of the provider, Claude Code reported that the budget is used up.
func TestAnErrorOfTheProviderIsNoUsedUpBudget(t *testing.T) {
	refused := gatewaytest.Body(429, "application/json", []byte(`{"type":"error","error":{"type":"rate_limit_error","message":"later"}}`))
	s := site.Start(t, agentsAt(t, refused, "limit person", "limit person {\nper user\nbudget 25/month\n}")...)
	s.AddUser("alice")
	_, token := letIn(s)
	got := s.Call(http.MethodPost, s.URL("site", "/v1/messages"), `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hello"}]}`,
		"Authorization", "Bearer "+token, "Anthropic-Version", "2023-06-01")
	assert.Equal(t, http.StatusTooManyRequests, got.Status)
	headers := shown(got)
	assert.Equal(t, "allowed", headers["Status"])
	assert.NotContains(t, headers, "Representative-Claim")
	assert.NotContains(t, headers, "Overage-Status")
}

// The person who has no budget sees what was spent.
func TestAProgramThatHasSignedInShowsWhatWasSpent(t *testing.T) {
	s := site.Start(t, agentsAt(t, costly, "")...)
	s.AddUser("alice")
	_, token := letIn(s)
	got := s.Call(http.MethodPost, s.URL("site", "/v1/messages"), `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hello"}]}`,
		"Authorization", "Bearer "+token, "Anthropic-Version", "2023-06-01")
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	assert.Empty(t, shown(got))
	const want = `{"extra_usage":{"is_enabled":true,"monthly_limit":null,"used_credits":2000,"utilization":null,"currency":"USD",
		"daily":{"limit":null,"used_credits":2000,"utilization":null},"weekly":{"limit":null,"used_credits":2000,"utilization":null}},"limits":[]}`
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		got := s.Call(http.MethodGet, s.URL("site", "/api/oauth/usage"), "", "Authorization", "Bearer "+token)
		assert.JSONEq(c, want, got.Body)
	}, site.Patience, site.PollEvery, "the ledger writes a moment later")
	refused := s.Call(http.MethodGet, s.URL("site", "/api/oauth/usage"), "", "Authorization", "Bearer agent_unknown")
	assert.Equal(t, []any{http.StatusUnauthorized, "false"}, []any{refused.Status, refused.Header.Get("X-Should-Retry")})

	// Each sign-in was an alert that its key ends soon, although the program renews it.
	assert.NotContains(t, s.Call(http.MethodGet, s.AdminURL("/api/v1/status"), "").Body, "ai_gateway_key_expires")
}

// Claude Code sends its telemetry to the gateway, which has no place for it: Caddy passes it on, for keys alone.
// The collector did not know whose it was.
func TestTelemetryReachesACollectorWithoutTheToken(t *testing.T) {
	got := make(chan http.Header, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(collector.Close)
	relay := "@telemetry path /v1/metrics /v1/logs /v1/traces\nhandle @telemetry {\nforward_auth 127.0.0.1:PORT(inner) {\nuri /v1/models\ncopy_headers X-Gateway-User\n}\n" +
		"reverse_proxy " + strings.TrimPrefix(collector.URL, "http://") + " {\nheader_up -Authorization\n}\n}"
	const alices = "sk-0123456789abcdef"
	t.Setenv("KEY_ALICE", alices)
	s := site.StartCaddyfile(t, site.Block(relay, site.DemoProvider)+
		site.BlockAt("inner", "header >X-Gateway-User {http.ai_gateway.key_owner}", site.DemoProvider, "key alice {env.KEY_ALICE} {\nowner alice\n}"))
	send := func(key string) int {
		return s.Call(http.MethodPost, s.URL("site", "/v1/metrics"), `{"resourceMetrics":[]}`,
			"Authorization", "Bearer "+key, "X-Gateway-User", "mallory").Status
	}
	assert.Equal(t, http.StatusUnauthorized, send("agent_unknown"))
	require.Equal(t, http.StatusOK, send(site.ClientKey))
	first := <-got
	assert.Empty(t, first["Authorization"])
	assert.Empty(t, first.Get("X-Gateway-User"), "a key without an owner")
	require.Equal(t, http.StatusOK, send(alices))
	assert.Equal(t, []string{"alice"}, (<-got)["X-Gateway-User"])
	assert.Empty(t, got, "nothing without a key")
}

// What subagents had cost was in no usage: agents send no header with tags.
func TestUsageHasTheSubagentsOfClaudeCode(t *testing.T) {
	s := site.Start(t, agentsAt(t, costly, "", "tags subagent={request.subagent}")...)
	s.AddUser("alice")
	_, token := letIn(s)
	for _, mark := range []string{"", " cc_is_subagent=true;", " cc_is_subagent=true;"} {
		got := s.Call(http.MethodPost, s.URL("site", "/v1/messages"), `{"model":"m","max_tokens":5,
			"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332; cc_entrypoint=cli;`+mark+`"}],
			"messages":[{"role":"user","content":"Hello"}]}`, "Authorization", "Bearer "+token, "Anthropic-Version", "2023-06-01")
		require.Equal(t, http.StatusOK, got.Status, got.Body)
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var usage struct {
			Items []struct {
				User, Tag string
				Requests  int
			}
		}
		require.NoError(c, json.Unmarshal([]byte(s.Call(http.MethodGet, s.AdminURL("/api/v1/usage?by=user,tag:subagent"), "").Body), &usage))
		requests := make(map[string]int)
		for _, sum := range usage.Items {
			requests[sum.User+" "+sum.Tag] = sum.Requests
		}
		assert.Equal(c, map[string]int{"alice true": 2}, requests, "those without the tag are left out")
	}, site.Patience, site.PollEvery, "the ledger writes a moment later")
}
