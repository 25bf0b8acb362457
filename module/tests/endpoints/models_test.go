package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestG116ModelsAreListedInTheShapeThatIsAskedFor(t *testing.T) {
	s, p := site.StartLocked(t, `
		model smart {
			to up/m1
		}
		model allowed-fast {
			to up
		}
		model vendor/large:free {
			to up
		}
		model any-* {
			to up
		}`)
	all := []string{"allowed-fast", "m1", "smart", "vendor/large:free"}
	chatShape := func(names ...string) string { return `{"object":"list","data":[` + cardsOf(false, names...) + `]}` }

	s.List(site.AliceKey, "/v1/models").AssertOurs(t, http.StatusOK, chatShape(all...))
	s.List(site.BobKey, "/v1/models").AssertOurs(t, http.StatusOK, chatShape("allowed-fast"), "the key's own list")
	s.List(site.AliceKey, "/v1/models?x=1").AssertOurs(t, http.StatusOK, chatShape(all...), "a query that means nothing")
	s.List(site.AliceKey, "/v1/models", version).AssertOurs(t, http.StatusOK, pageOf(false, all...))
	s.List(site.BobKey, "/v1/models", version).AssertOurs(t, http.StatusOK, pageOf(false, "allowed-fast"))
	s.List(site.AliceKey, "/v1/models", "Anthropic-Version: whatever").AssertOurs(t, http.StatusOK, pageOf(false, all...))
	for query, want := range map[string]string{
		"limit=1000":                              pageOf(false, all...),
		"limit=2":                                 pageOf(true, all[:2]...),
		"limit=2&after_id=m1":                     pageOf(false, all[2:]...),
		"limit=1&before_id=smart":                 pageOf(true, "m1"),
		"before_id=m1":                            pageOf(false, "allowed-fast"),
		"after_id=vendor%2Flarge%3Afree":          pageOf(false),
		"after_id=smart&limit=1000&anything=else": pageOf(false, "vendor/large:free"),
	} {
		s.List(site.AliceKey, "/v1/models?"+query).AssertOurs(t, http.StatusOK, want, query)
		s.List(site.AliceKey, "/v1/models?"+query, version).AssertOurs(t, http.StatusOK, want, query)
	}
	for _, limit := range []string{"0", "1001", "many", ""} {
		s.List(site.AliceKey, "/v1/models?limit="+limit).AssertOurs(t, http.StatusBadRequest,
			site.InMessages("invalid_request_error", "limit: must be an integer from 1 to 1000"))
	}
	assert.Zero(t, p.Count(), "no provider is asked")
}

func TestOneModelIsShownIfTheKeyMayUseIt(t *testing.T) {
	s, p := site.StartLocked(t, `
		model vendor/large:free {
			to up
		}`)
	for target, name := range map[string]string{
		"/v1/models/m1":                     "m1",
		"/v1/models/allowed-by-a-pattern":   "allowed-by-a-pattern",
		"/v1/models/vendor/large:free":      "vendor/large:free",
		"/v1/models/vendor%2Flarge:free":    "vendor/large:free",
		"/v1/models/vendor%2flarge%3Afree":  "vendor/large:free",
		"/v1/models/%6D1":                   "m1",
		"/v1/models/M1":                     "M1", // services do not distinguish the case
		"/v1/models/m1?limit=x&after_id=%2": "m1",
	} {
		if !strings.Contains(target, "?") {
			s.List(site.AliceKey, target).AssertOurs(t, http.StatusOK, cardsOf(false, name), target)
		}
		s.List(site.AliceKey, target, version).AssertOurs(t, http.StatusOK, cardsOf(true, name), target)
	}
	for target, name := range map[string]string{
		"/v1/models/m2": "m2", "/v1/models/m1/": "m1/", "/v1/models/..%2Fmessages": "../messages",
		"/v1/models//m1": "/m1", "/v1/models/m1%00": `m1\u0000`, "/v1/models/%22": `\"`, "/v1/models/a%0D%0Ab": `a\r\nb`,
		"/v1/models/" + strings.Repeat("x", 300): strings.Repeat("x", 256),
		// A pattern once made any length of a name a model, which no request could have named.
		"/v1/models/allowed-" + strings.Repeat("x", 249): "allowed-" + strings.Repeat("x", 248),
	} {
		message := "model: '" + name + "' is not known"
		s.List(site.AliceKey, target).AssertOurs(t, http.StatusNotFound,
			site.InChoices("invalid_request_error", message, `"model"`, `"model_not_found"`), target)
		s.List(site.AliceKey, target, version).AssertOurs(t, http.StatusNotFound, site.InMessages("not_found_error", message), target)
	}
	s.List(site.BobKey, "/v1/models/m1").AssertOurs(t, http.StatusNotFound,
		site.InChoices("invalid_request_error", "model: 'm1' is not known", `"model"`, `"model_not_found"`), "a model of others")
	assert.Zero(t, p.Count())
}

func TestHeadOfModelsIsGetWithoutABody(t *testing.T) {
	s, _ := site.StartLocked(t)
	for _, target := range []string{"/v1/models", "/v1/models/m1", "/v1/models/none"} {
		get := s.List(site.AliceKey, target)
		head := s.Raw("", "HEAD "+target+" HTTP/1.1", "Authorization: Bearer "+site.AliceKey)
		assert.Equal(t, get.Status, head.Status)
		assert.Empty(t, head.Body)
		assert.Equal(t, fmt.Sprint(len(get.Body)), head.Header.Get("Content-Length"))
		assert.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"))
	}
}

func TestAPresetThatKnowsItsModelsIsListed(t *testing.T) {
	t.Run("demo", func(t *testing.T) {
		s := site.Start(t, "provider demo")
		s.List(site.ClientKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[`+cardsOf(false, "demo")+`]}`)
	})
	t.Run("one that knows none", func(t *testing.T) {
		s := site.Start(t, "provider up vllm {\nbase_url http://127.0.0.1:9\n}")
		s.List(site.ClientKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[]}`)
		s.List(site.ClientKey, "/v1/models", version).AssertOurs(t, http.StatusOK, pageOf(false))
	})
}

func TestTokenCountsOfAProviderAreRelayed(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"one two three"}]}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("up", p))
		for _, more := range []string{"", `,"stream":true`} {
			asked := strings.TrimSuffix(body, "}") + more + "}"
			if more != "" { // no field of this endpoint; a provider that is less strict may take it
				p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"input_tokens":7}`)))
			}
			answer := s.Ask(site.MessagesPath+"/count_tokens?beta=true", asked)
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Regexp(t, `^\{"input_tokens":[1-9][0-9]*\}\s*$`, answer.Body)
			assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
			assert.Empty(t, answer.Header.Get("X-Gateway-Estimate"))
			sent := p.Requests()[p.Count()-1]
			assert.Equal(t, site.MessagesPath+"/count_tokens", sent.Path)
			assert.Equal(t, "beta=true", sent.Query)
			assert.Equal(t, asked, string(sent.Body))
		}
	})
}

func TestG119CountingCanBeSwitchedOffWhereNobodyCounts(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "format chat", "count_tokens off"))
	s.Ask(site.MessagesPath+"/count_tokens", `{"model":"m","messages":[{"role":"user","content":"one two three"}]}`).
		AssertOurs(t, http.StatusNotFound, site.InMessages("not_found_error", "token counting is not available for model 'm'"))
	assert.Zero(t, p.Count())
}
