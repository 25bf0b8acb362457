package cache

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// exchangeOf returns the exchange of a request that has passed the strict pass.
func exchangeOf(t *testing.T, format translate.Format, op translate.Operation, body string) *exchange.Exchange {
	client := formats.Of(format)
	view, refused := client.Requests.Inspect([]byte(body), op)
	require.Nil(t, refused, body)
	return &exchange.Exchange{
		Key:     &aigateway.Key{ID: "k", Digest: sha256.Sum256([]byte("k"))},
		Request: exchange.Request{Operation: op, Format: client, Client: http.Header{}, Body: []byte(body), View: view},
	}
}

// bodies are requests with MORE in place of further members.
var bodies = map[translate.Format]string{
	translate.Chat:      `{"model":"m","messages":[{"role":"user","content":"hi"}]MORE}`,
	translate.Messages:  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]MORE}`,
	translate.Responses: `{"model":"m","input":"hi"MORE}`,
	translate.Gemini:    `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]MORE}`,
}

func TestX120WhichRequestsAreAnsweredFromTheCache(t *testing.T) {
	const zero = `,"temperature":0`
	for _, c := range []struct {
		format translate.Format
		more   string
		plain  bool // answered from the cache
		any    bool // with any_temperature
	}{
		{translate.Chat, ``, false, true},
		{translate.Chat, zero, true, true},
		{translate.Chat, `,"temperature":0.0`, true, true},
		{translate.Chat, `,"temperature":0.5`, false, true},
		{translate.Chat, `,"temperature":null`, false, true},
		{translate.Chat, zero + `,"stream":true`, true, true},
		{translate.Chat, zero + `,"n":2`, false, false},
		{translate.Chat, zero + `,"store":true`, false, false},
		{translate.Chat, zero + `,"store":false`, true, true},
		{translate.Chat, zero + `,"modalities":["text","audio"],"audio":{"voice":"a","format":"wav"}`, false, false},
		{translate.Chat, zero + `,"web_search_options":{}`, false, false},
		{translate.Chat, zero + `,"tools":[{"type":"function","function":{"name":"f"}}]`, true, true},
		{translate.Messages, zero, true, true},
		{translate.Messages, zero + `,"tools":[{"type":"web_search_20250305","name":"web_search"}]`, false, false},
		{translate.Messages, zero + `,"tools":[{"type":"code_execution_20250522","name":"code_execution"}]`, false, false},
		{translate.Messages, zero + `,"container":"container_1"`, false, false},
		{translate.Messages, zero + `,"mcp_servers":[{"type":"url","url":"https://a.example","name":"a"}]`, false, false},
		{translate.Responses, zero, true, true},
		{translate.Responses, zero + `,"store":false`, true, true},
		{translate.Responses, zero + `,"store":true`, false, false},
		{translate.Responses, zero + `,"previous_response_id":"resp_1"`, false, false},
		{translate.Responses, zero + `,"background":true`, false, false},
		{translate.Responses, zero + `,"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]`, false, false},
		{translate.Gemini, `,"generationConfig":{"temperature":0}`, true, true},
		{translate.Gemini, `,"generationConfig":{"temperature":1}`, false, true},
		{translate.Gemini, `,"generationConfig":{"temperature":0},"tools":[{"googleSearch":{}}]`, false, false},
		{translate.Gemini, `,"generationConfig":{"temperature":0},"cachedContent":"cachedContents/1"`, false, false},
	} {
		ex := exchangeOf(t, c.format, translate.Generate, strings.Replace(bodies[c.format], "MORE", c.more, 1))
		assert.Equal(t, c.plain, repeats(ex, false), "%s %s", c.format, c.more)
		assert.Equal(t, c.any, repeats(ex, true), "%s %s, any temperature", c.format, c.more)
	}
}

func TestRequestsForWhatIsElsewhereAreNotAnsweredFromTheCache(t *testing.T) {
	for want, parts := range map[bool][]string{
		true: {
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`,
			`{"type":"text","text":"hi"}`,
		},
		false: {
			`{"type":"image_url","image_url":{"url":"https://a.example/a.png"}}`,
			`{"type":"file","file":{"file_id":"file-1"}}`,
		},
	} {
		for _, part := range parts {
			ex := exchangeOf(t, translate.Chat, translate.Generate, `{"model":"m","temperature":0,"messages":[{"role":"user","content":[`+part+`]}]}`)
			assert.Equal(t, want, repeats(ex, true), part)
		}
	}
}

func TestX124ClientsControlTheCache(t *testing.T) {
	for header, want := range map[string]*exchange.Cache{
		"":                              {MaxAge: 1<<63 - 1},
		"no-transform, unknown=1":       {MaxAge: 1<<63 - 1},
		"no-store":                      nil,
		"max-age=5, No-Store":           nil,
		"no-cache":                      {MaxAge: 1<<63 - 1, Refresh: true},
		"max-age=60":                    {MaxAge: time.Minute},
		"max-age=0":                     {},
		"max-age=-1":                    {MaxAge: 1<<63 - 1},
		"max-age=999999999999999999999": {MaxAge: 1<<63 - 1},
	} {
		ex := exchangeOf(t, translate.Chat, translate.Generate, strings.Replace(bodies[translate.Chat], "MORE", "", 1))
		ex.Request.Client.Set("Cache-Control", header)
		got := (&Rule{AnyTemperature: true}).For(ex, nil)
		if want == nil {
			assert.Nil(t, got, header)
			continue
		}
		require.NotNil(t, got, header)
		assert.Equal(t, want.MaxAge, got.MaxAge, header)
		assert.Equal(t, want.Refresh, got.Refresh, header)
		assert.Equal(t, DefaultTTL, got.TTL)
	}
}

// Keys of the configurations of two sites may have the same name, and share the memory.
func TestX116ScopesOfKeys(t *testing.T) {
	config := &aigateway.Key{ID: "a", Digest: sha256.Sum256([]byte("1"))}
	otherSite := &aigateway.Key{ID: "a", Digest: sha256.Sum256([]byte("2"))}
	stored := &aigateway.Key{ID: "key_1", Subject: "ada", Digest: sha256.Sum256([]byte("3"))}
	second := &aigateway.Key{ID: "key_2", Subject: "ada", Digest: sha256.Sum256([]byte("4"))}
	for _, c := range []struct {
		scope Scope
		a, b  *aigateway.Key
		same  bool
	}{
		{"", config, config, true}, {"", config, otherSite, false}, {"", stored, second, false}, {ScopeKey, stored, second, false},
		{ScopeUser, config, otherSite, false}, {ScopeUser, stored, second, true}, {ScopeUser, config, stored, false},
		{ScopeAll, config, otherSite, true}, {ScopeAll, config, stored, true},
	} {
		r := &Rule{Scope: c.scope}
		a, b := r.scopeOf(&exchange.Exchange{Key: c.a}), r.scopeOf(&exchange.Exchange{Key: c.b})
		assert.Equal(t, c.same, a == b, "%s: %s and %s", c.scope, c.a.ID, c.b.ID)
	}
	all, own := (&Rule{Scope: ScopeAll}).scopeOf(&exchange.Exchange{Key: config}), (&Rule{}).scopeOf(&exchange.Exchange{Key: config})
	assert.NotEqual(t, all, own)
}

func TestRulesAreChecked(t *testing.T) {
	var none *Rule
	require.NoError(t, none.Validate())
	require.NoError(t, (&Rule{Scope: ScopeAll}).Validate())
	assert.EqualError(t, (&Rule{Scope: "team"}).Validate(), "cache: scope must be key, user or all, not 'team'")
	assert.EqualError(t, (&Rule{TTL: caddy.Duration(-1)}).Validate(), "cache: ttl must be positive")
}
