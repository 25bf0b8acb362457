package balance

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func pool(t *testing.T, addresses ...string) (all reverseproxy.UpstreamPool) {
	t.Helper()
	for _, address := range addresses {
		all = append(all, &reverseproxy.Upstream{Dial: address, Host: new(reverseproxy.Host)})
	}
	return all
}

// call returns a request of an exchange in the form in which a policy gets it.
func call(t *testing.T, ex *exchange.Exchange) (*http.Request, *exchange.Conduit) {
	t.Helper()
	c := &exchange.Conduit{Attempt: exchange.Attempt{Exchange: ex}}
	r, err := http.NewRequestWithContext(exchange.WithConduit(t.Context(), c), http.MethodPost, "/", http.NoBody)
	require.NoError(t, err)
	return r, c
}

func chosen(t *testing.T, s reverseproxy.Selector, all reverseproxy.UpstreamPool, ex *exchange.Exchange) string {
	t.Helper()
	r, _ := call(t, ex)
	return s.Select(all, r, nil).Dial
}

func TestASessionStaysAtItsAddress(t *testing.T) {
	all := pool(t, "a:1", "b:1", "c:1")
	seen := make(map[string]int)
	for i := range uint64(3000) {
		ex := &exchange.Exchange{Session: 1 + i*7919}
		first := chosen(t, Session{}, all, ex)
		assert.Equal(t, first, chosen(t, Session{}, all, ex))
		if first != "b:1" {
			assert.Equal(t, first, chosen(t, Session{}, pool(t, "c:1", "a:1"), ex), "without another address")
		}
		seen[first]++
	}
	for address, n := range seen {
		assert.InDelta(t, 1000, n, 150, address)
	}
}

func TestRequestsWithoutASessionGoAnywhere(t *testing.T) {
	all := pool(t, "a:1", "b:1")
	seen := make(map[string]int)
	for range 200 {
		seen[chosen(t, Session{}, all, new(exchange.Exchange))]++
	}
	assert.Len(t, seen, 2)
	health, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	require.NoError(t, err)
	assert.NotNil(t, Session{}.Select(all, health, nil), "a request without an attempt")
}

// A policy that always returns the same address makes reverse_proxy repeat every call at
// the address that has just failed.
func TestARepeatedCallGoesToAnotherAddress(t *testing.T) {
	all := pool(t, "a:1", "b:1", "c:1")
	r, c := call(t, &exchange.Exchange{Session: 7})
	seen := make(map[string]bool)
	for range all {
		seen[Session{}.Select(all, r, nil).Dial] = true
	}
	assert.Len(t, seen, 3)
	assert.Len(t, c.Addresses, 3)
	assert.NotNil(t, Session{}.Select(all, r, nil), "all were tried: any is better than none")
	assert.Nil(t, Session{}.Select(nil, r, nil))
}

func TestConversationsWithTheSameBeginningHaveOneSeed(t *testing.T) {
	const (
		line  = `{"type":"text","text":"x-anthropic-billing-header: cch=%d;"},`
		turn  = `{"role":"user","content":"hello"}`
		later = turn + `,{"role":"assistant","content":"Hi"},{"role":"user","content":"more"}`
	)
	seed := func(model, body string) uint64 {
		return prefixSeed(&exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Messages), View: translate.View{Model: model}, Body: []byte(body)}})
	}
	for name, pair := range map[string][2]string{
		"messages":      {`{"system":"s","messages":[` + turn + `]}`, `{"messages":[` + later + `],"system":"s"}`},
		"an attributed": {`{"system":[` + fmt.Sprintf(line, 1) + `{"type":"text","text":"s"}],"messages":[` + turn + `]}`, `{"system":[` + fmt.Sprintf(line, 2) + `{"type":"text","text":"s"}],"messages":[` + later + `]}`},
		"chat":          {`{"messages":[{"role":"system","content":"s"},` + turn + `]}`, `{"messages":[{"role":"system","content":"s"},` + later + `]}`},
		"responses":     {`{"instructions":"s","input":[` + turn + `]}`, `{"instructions":"s","input":[` + later + `],"stream":true}`},
	} {
		assert.Equal(t, seed("m", pair[0]), seed("m", pair[1]), name)
		assert.NotEqual(t, seed("m", pair[0]), seed("other", pair[0]), "%s, another model", name)
		assert.NotEqual(t, seed("m", pair[0]), seed("m", `{"messages":[{"role":"user","content":"another"}]}`), name)
	}
	assert.NotEqual(t, seed("m", `{"prompt":"a"}`), seed("m", `{"prompt":"b"}`))
	assert.NotEqual(t, seed("m", `{"input":"a"}`), seed("m", `{"input":"b"}`))
}

func TestThePrefixDecidesBetweenAddresses(t *testing.T) {
	all := pool(t, "a:1", "b:1", "c:1", "d:1")
	seen := make(map[string]int)
	for i := range 400 {
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: translate.View{Model: "m"}, Body: fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%d"}]}`, i)}}
		first := chosen(t, PrefixHash{}, all, ex)
		ex.Body = fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%d"},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`, i)
		assert.Equal(t, first, chosen(t, PrefixHash{}, all, ex), "the next turn")
		seen[first]++
	}
	assert.Len(t, seen, 4)
}
