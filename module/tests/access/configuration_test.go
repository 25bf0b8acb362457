package access_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// read decodes an answer with status 200.
func read[T any](t *testing.T, r site.Reply) T {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	var answer T
	require.NoError(t, json.Unmarshal([]byte(r.Body), &answer), r.Body)
	return answer
}

// startShown runs a site with secrets in many places of its configuration.
func startShown(t *testing.T) (p *gatewaytest.Provider, carol, alice loggedIn) {
	t.Helper()
	p = gatewaytest.NewProvider(t)
	t.Setenv("UPSTREAM_KEY", "sk-upstream-0123456789abcdef")
	t.Setenv("HERS_KEY", "sk-hers-0123456789abcdef00")
	s := site.Start(t, site.Direct.Provider("up", p, "api_key {env.UPSTREAM_KEY}", "models a b-*", "price a input 1.25 output 10"), `
		provider away vllm {
			base_url http://127.0.0.1:9/v1
			models nowhere
		}
		model fast {
			to up/a
			attempts 1
		}
		limit small {
			requests 60/1m
		}
		tags team env
		customer header.X-Customer user
		guard cards regex {
			pattern ticket "T-[0-9]{4}"
			block card
			mask ticket email
			on request
			keys hers
		}
		guard asked webhook {
			url http://127.0.0.1:9/services/sk-hook-0123456789abcdef
			on_error pass
			secret {env.HERS_KEY}
		}
		key hers {env.HERS_KEY} {
			owner alice
			models fast
			limit small
			tags team=search
		}`)
	s.AddUser("alice")
	created := askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"carol","role":"admin","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	return p, logInAs(s, "site", "carol"), logInAs(s, "site", "alice")
}

func TestTheConfigurationIsShownWithoutSecrets(t *testing.T) {
	p, carol, _ := startShown(t)
	got := carol.ask(http.MethodGet, "/api/v1/configuration", "")
	c := read[struct {
		Providers []struct {
			Name    string
			BaseURL string   `json:"base_url"`
			APIKeys []string `json:"api_keys"`
		}
		Models []struct {
			Name     string
			Attempts int
			Targets  []struct{ Provider string }
		}
		Limits []struct {
			Name  string
			Rules []string
		}
		Guards []struct {
			Name, Module string
			On, Keys     []string
			Rules        []string
		}
		Tags, Customer []string
	}](t, got)
	require.Len(t, c.Providers, 2)
	assert.Equal(t, []string{"{env.UPSTREAM_KEY}"}, c.Providers[0].APIKeys)
	assert.Equal(t, "http://"+p.Address(), c.Providers[0].BaseURL)
	assert.Equal(t, "http://127.0.0.1:9/v1", c.Providers[1].BaseURL)
	require.Len(t, c.Models, 1)
	assert.Equal(t, 1, c.Models[0].Attempts)
	assert.Equal(t, "up", c.Models[0].Targets[0].Provider)
	assert.Equal(t, []string{"requests 60/1m"}, c.Limits[0].Rules)
	require.Len(t, c.Guards, 2)
	assert.Equal(t, "cards regex", c.Guards[0].Name+" "+c.Guards[0].Module)
	assert.Equal(t, []string{"request", "hers"}, slices.Concat(c.Guards[0].On, c.Guards[0].Keys))
	assert.Equal(t, []string{`pattern ticket "T-[0-9]{4}"`, "block card", "mask ticket email", "max_size 16MiB", "on_error block"}, c.Guards[0].Rules)
	assert.Equal(t, []string{"url http://127.0.0.1:9", "on_error pass", "timeout 2s"}, c.Guards[1].Rules, "the path may be a secret")
	assert.Equal(t, []string{"team", "env"}, c.Tags)
	assert.Equal(t, []string{"header.X-Customer", "user"}, c.Customer)
	for _, path := range []string{"/api/v1/configuration", "/api/v1/keys/configured", "/api/v1/prices", "/api/v1/targets"} {
		body := carol.ask(http.MethodGet, path, "").Body
		for _, secret := range []string{"sk-", site.ClientKey, "sha256"} {
			assert.NotContains(t, body, secret, path)
		}
	}
}

func TestPricesInEffectAreShown(t *testing.T) {
	_, carol, _ := startShown(t)
	type prices struct {
		Next  string
		Items []struct {
			Model, Provider string
			Price           *struct {
				Currency      string
				Input, Output float64
			}
		}
	}
	all := read[prices](t, carol.ask(http.MethodGet, "/api/v1/prices?model=fast", ""))
	require.Len(t, all.Items, 1)
	assert.Equal(t, "up", all.Items[0].Provider)
	assert.Equal(t, 1.25, all.Items[0].Price.Input)
	assert.Equal(t, 10.0, all.Items[0].Price.Output)
	unpriced := read[prices](t, carol.ask(http.MethodGet, "/api/v1/prices?model=nowhere", ""))
	require.Len(t, unpriced.Items, 1)
	assert.Nil(t, unpriced.Items[0].Price)
	assert.Len(t, read[prices](t, carol.ask(http.MethodGet, "/api/v1/prices?model=fast&model=nowhere", "")).Items, 2)
	assert.Len(t, read[prices](t, carol.ask(http.MethodGet, "/api/v1/prices", "")).Items, 3)
	first := read[prices](t, carol.ask(http.MethodGet, "/api/v1/prices?limit=2", ""))
	assert.Len(t, first.Items, 2)
	second := read[prices](t, carol.ask(http.MethodGet, "/api/v1/prices?limit=2&after="+first.Next, ""))
	assert.Len(t, second.Items, 1)
	assert.Empty(t, second.Next)
	assert.Equal(t, http.StatusBadRequest, carol.ask(http.MethodGet, "/api/v1/prices?at=now", "").Status)
}

func TestKeysOfTheConfigurationAreListed(t *testing.T) {
	_, carol, alice := startShown(t)
	type page struct {
		Items []struct {
			ID, User, Limit     string
			Models, Tags, Sites []string
		}
		Next string
	}
	own := read[page](t, alice.ask(http.MethodGet, "/api/v1/keys/configured", ""))
	require.Len(t, own.Items, 1)
	assert.Equal(t, "hers", own.Items[0].ID)
	assert.Equal(t, []string{"fast"}, own.Items[0].Models)
	assert.Equal(t, "small", own.Items[0].Limit)
	assert.Equal(t, []string{"team=search"}, own.Items[0].Tags)
	assert.Equal(t, []string{"127.0.0.1"}, own.Items[0].Sites)
	assert.Equal(t, own, read[page](t, alice.ask(http.MethodGet, "/api/v1/keys/configured?user=Alice", "")), "usernames ignore letter case")
	assert.Equal(t, own, read[page](t, carol.ask(http.MethodGet, "/api/v1/keys/configured?user=Alice", "")))
	first := read[page](t, carol.ask(http.MethodGet, "/api/v1/keys/configured?limit=1", ""))
	require.Len(t, first.Items, 1)
	assert.Equal(t, "client", first.Items[0].ID)
	second := read[page](t, carol.ask(http.MethodGet, "/api/v1/keys/configured?limit=1&after="+first.Next, ""))
	require.Len(t, second.Items, 1)
	assert.Equal(t, "hers", second.Items[0].ID)
	assert.Empty(t, second.Next)
	for _, list := range []string{"keys/configured", "prices", "targets"} {
		got := carol.ask(http.MethodGet, "/api/v1/"+list+"?limit=x", "")
		assert.Equal(t, http.StatusBadRequest, got.Status, list)
		assert.Contains(t, got.Body, "limit must be a whole number", list)
	}
}

// Two sites may have keys with one id. Which one a list showed could not be seen.
// The names once had the order of the ports of their sites.
func TestKeysOfTheConfigurationNameTheirSites(t *testing.T) {
	t.Setenv("SHARED_KEY", "sk-shared-0123456789abcdef")
	t.Setenv("OWN_KEY", "sk-own-0123456789abcdef00")
	own := func(model string) string {
		return "ai_gateway {\nkey own {env.OWN_KEY} {\nmodels " + model + "\n}\n}\n"
	}
	s := site.StartCaddyfile(t, "{\nai_gateway {\n"+site.DemoProvider+"\nkey shared {env.SHARED_KEY}\n}\n}\n"+
		"http://127.0.0.1:PORT(site), http://localhost:PORT(site) {\n"+own("a")+"}\n"+
		"http://:PORT(second) {\nhandle {\n"+own("b")+"}\n}\n")
	s.AddUser("root")
	require.Equal(t, http.StatusOK, s.Call(http.MethodPatch, s.AdminURL("/api/v1/users/root"), `{"role":"root"}`).Status)
	type key struct {
		ID    string
		Sites []string
	}
	everywhere := strings.TrimPrefix(s.URL("second", ""), "http://")
	all := read[struct{ Items []key }](t, logInAs(s, "site", "root").ask(http.MethodGet, "/api/v1/keys/configured", "")).Items
	assert.ElementsMatch(t, []key{{"own", []string{"127.0.0.1", "localhost"}}, {"own", []string{everywhere}}, {"shared", []string{"127.0.0.1", everywhere, "localhost"}}}, all)
}

func TestAProviderIsAskedNow(t *testing.T) {
	p, carol, _ := startShown(t)
	type result struct {
		Answered bool
		Status   int
	}
	p.Always(gatewaytest.Status(http.StatusUnauthorized))
	assert.Equal(t, result{true, 401}, read[result](t, carol.ask(http.MethodPost, "/api/v1/targets/probe?provider=up", "")))
	p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"object":"list","data":[]}`)))
	assert.Equal(t, result{true, 200}, read[result](t, carol.ask(http.MethodPost, "/api/v1/targets/probe?provider=up", "")))
	assert.Equal(t, result{false, 0}, read[result](t, carol.ask(http.MethodPost, "/api/v1/targets/probe?provider=away", "")))
	assert.Equal(t, http.StatusNotFound, carol.ask(http.MethodPost, "/api/v1/targets/probe?provider=none", "").Status)
	for _, asked := range p.Ledger.Requests() {
		assert.Equal(t, http.MethodGet, asked.Method, "a probe must use no tokens")
	}
}

// The lookup of one key must find its limits, as a list of all keys does.
func TestAKeyHasWhatIsLeftOfItsLimits(t *testing.T) {
	_, carol, alice := startShown(t)
	made := carol.ask(http.MethodPost, "/api/v1/keys", `{"user":"alice","name":"stored","limit":"small"}`)
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	type keys struct {
		Items []struct {
			Limits []struct {
				Limit, Rule string
				Left        int64
			}
		}
	}
	for _, list := range []keys{
		read[keys](t, carol.ask(http.MethodGet, "/api/v1/keys?limits=true", "")), read[keys](t, alice.ask(http.MethodGet, "/api/v1/keys?limits=true", "")),
	} {
		require.Len(t, list.Items, 1)
		require.Len(t, list.Items[0].Limits, 1)
		assert.Equal(t, "small", list.Items[0].Limits[0].Limit)
		assert.EqualValues(t, 60, list.Items[0].Limits[0].Left)
	}
}
