package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// askForModels sends q as reverse_proxy would, with an address and a header of
// its own, or, without an address, as the direct path does.
func askForModels(t *Transport, q *exchange.ModelsQuery, address string) (*http.Response, error) {
	r := &http.Request{URL: &url.URL{Host: address}, Header: http.Header{"X-Forwarded-For": nil}}
	if address != "" {
		r.URL.Scheme = "http"
		r.Header.Set("X-Tenant", "blue")
	}
	return t.RoundTrip(r.WithContext(exchange.WithModelsQuery(context.Background(), q)))
}

// answersModels keeps the request and answers with a status and a body.
func answersModels(got **http.Request, status int, body string) answers {
	return func(r *http.Request) (*http.Response, error) {
		*got = r
		return &http.Response{
			StatusCode: status, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)),
			Header: http.Header{"Set-Cookie": {"a=b"}},
		}, nil
	}
}

func TestModelsAreAskedForInTheShapeOfTheFormat(t *testing.T) {
	for _, test := range []struct {
		base    string
		query   exchange.ModelsQuery
		address string
		want    string
	}{
		{"https://p.example/v1", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat)}, "", "https://p.example/v1/models"},
		{"https://p.example", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat)}, "", "https://p.example/v1/models"},
		{"https://p.example/openai/v1", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Completions)}, "", "https://p.example/openai/v1/models"},
		{"https://p.example", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Messages)}, "", "https://p.example/v1/models?limit=1000"},
		{"https://p.example/v1", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Messages), Previous: "a&b"}, "", "https://p.example/v1/models?after_id=a%26b&limit=1000"},
		{"https://p.example/v1", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat), Previous: "a"}, "10.0.0.1:80", "http://10.0.0.1:80/v1/models"},
		{"http://p.example/v1", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat), Loaded: "/api/ps"}, "", "http://p.example/api/ps"},
		{"http://p.example/ollama/v1", exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat), Loaded: "/api/ps"}, "", "http://p.example/ollama/api/ps"},
	} {
		var got *http.Request
		tr := newTransport(answersModels(&got, http.StatusOK, "[]"), func(tr *Transport) {
			setCredential(tr, "sk-provider")
			tr.credentials.header = "X-Api-Key"
			tr.service.base, _ = url.Parse(test.base)
		})
		res, err := askForModels(tr, &test.query, test.address)
		require.NoError(t, err)
		assert.Empty(t, res.Header, "no header of the provider is relayed")
		assert.Equal(t, http.StatusOK, test.query.Status)
		assert.Equal(t, "[]", string(test.query.Page))
		assert.Equal(t, http.MethodGet, got.Method)
		assert.Equal(t, test.want, got.URL.String())
		assert.Equal(t, []string{"sk-provider"}, got.Header["X-Api-Key"])
		assert.NotContains(t, got.Header, "Authorization")
		assert.NotContains(t, got.Header, "X-Forwarded-For")
		assert.Equal(t, test.query.Format.Name == translate.Messages, got.Header.Get("Anthropic-Version") != "")
		assert.Equal(t, test.address != "", got.Header.Get("X-Tenant") != "", "configured headers are sent")
	}
}

// reverse_proxy takes an error for a failure of the address. One unreadable list would mark
// the address as down for all requests.
func TestWhatIsNoListIsNoErrorOfTheProvider(t *testing.T) {
	withKey := func(tr *Transport) { setCredential(tr, "sk-provider/7") }
	text := func(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }
	for name, answer := range map[string]http.Response{
		"a status":           {StatusCode: http.StatusServiceUnavailable, Body: text("try later")},
		"endless":            {StatusCode: http.StatusOK, Body: endless{strings.NewReader("["), " "}},
		"with the key":       {StatusCode: http.StatusOK, Body: text(`{"data":[{"id":"sk-provider/7"}]}`)},
		"with its escapes":   {StatusCode: http.StatusOK, Body: text(`{"data":[{"id":"sk-provider\/7"}]}`)},
		"of an unknown code": {StatusCode: http.StatusOK, Body: text("[]"), Header: http.Header{"Content-Encoding": {"rot13"}}},
	} {
		answer.ContentLength = -1
		inner := answers(func(*http.Request) (*http.Response, error) { return &answer, nil })
		q := &exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat), Status: http.StatusOK, Page: []byte("of another address")}
		res, err := askForModels(newTransport(inner, withKey), q, "")
		require.NoError(t, err, name)
		assert.Equal(t, http.StatusOK, res.StatusCode, name)
		assert.Equal(t, answer.StatusCode, q.Status, name)
		assert.Nil(t, q.Page, name)
	}
}

func TestAProviderThatCannotBeReachedForItsListIsAnError(t *testing.T) {
	refused := errors.New("refused")
	inner := answers(func(*http.Request) (*http.Response, error) { return nil, refused })
	q := &exchange.ModelsQuery{Traits: new(trait.Traits), Format: formats.Of(translate.Chat)}
	_, err := askForModels(newTransport(inner), q, "")
	require.ErrorIs(t, err, refused, "reverse_proxy tries another address")
	assert.Zero(t, q.Status)
}
