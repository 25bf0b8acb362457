package balance

import (
	"fmt"
	"net/http"
	"strings"
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
	seed := func(name translate.Format, model, body string) uint64 {
		return prefixSeed(&exchange.Exchange{Request: exchange.Request{Format: formats.Of(name), View: translate.View{Model: model}, Body: []byte(body)}})
	}
	for _, c := range []struct {
		format       translate.Format
		first, later string
	}{
		{translate.Messages, `{"system":"s","messages":[` + turn + `]}`, `{"messages":[` + later + `],"system":"s"}`},
		{translate.Messages, `{"system":[` + fmt.Sprintf(line, 1) + `{"type":"text","text":"s"}],"messages":[` + turn + `]}`, `{"system":[` + fmt.Sprintf(line, 2) + `{"type":"text","text":"s"}],"messages":[` + later + `]}`},
		{translate.Chat, `{"messages":[{"role":"system","content":"s"},` + turn + `]}`, `{"messages":[{"role":"system","content":"s"},` + later + `]}`},
		{translate.Responses, `{"instructions":"s","input":[` + turn + `]}`, `{"instructions":"s","input":[` + later + `],"stream":true}`},
	} {
		first := seed(c.format, "m", c.first)
		assert.Equal(t, first, seed(c.format, "m", c.later), c.first)
		assert.NotEqual(t, first, seed(c.format, "other", c.first), "%s, another model", c.first)
		assert.NotEqual(t, first, seed(c.format, "m", strings.Replace(c.first, "hello", "another", 1)), c.first)
	}
	assert.NotEqual(t, seed(translate.Completions, "m", `{"prompt":"a"}`), seed(translate.Completions, "m", `{"prompt":"b"}`))
	assert.NotEqual(t, seed(translate.Responses, "m", `{"input":"a"}`), seed(translate.Responses, "m", `{"input":"b"}`))
}

// A format whose requests all have one seed would send every conversation to one address.
func TestRequestsOfEveryFormatHaveAPrefix(t *testing.T) {
	for _, f := range formats.All() {
		p := f.Requests.Prefix
		assert.NotEmpty(t, p.Turns+p.Text, f.Name)
	}
}

func TestThePrefixDecidesBetweenAddresses(t *testing.T) {
	all := pool(t, "a:1", "b:1", "c:1", "d:1")
	seen := make(map[string]int)
	for i := range 400 {
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: translate.View{Model: "m"}, Body: fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%d"}]}`, i)}}
		first := chosen(t, PrefixHash{}, all, ex)
		ex.Request.Body = fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%d"},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`, i)
		assert.Equal(t, first, chosen(t, PrefixHash{}, all, ex), "the next turn")
		seen[first]++
	}
	assert.Len(t, seen, 4)
}
