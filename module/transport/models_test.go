package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// askForModels sends q as reverse_proxy would, with an address and a header of
// its own, or, without an address, as the direct path does.
func askForModels(t *Transport, q exchange.ModelsQuery, address string) (*http.Response, error) {
	r := &http.Request{URL: &url.URL{Host: address}, Header: http.Header{"X-Forwarded-For": nil}}
	if address != "" {
		r.URL.Scheme = "http"
		r.Header.Set("X-Tenant", "blue")
	}
	return t.RoundTrip(r.WithContext(exchange.WithModelsQuery(context.Background(), &q)))
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
		{"https://p.example/v1", exchange.ModelsQuery{Format: translate.Chat}, "", "https://p.example/v1/models"},
		{"https://p.example", exchange.ModelsQuery{Format: translate.Chat}, "", "https://p.example/v1/models"},
		{"https://p.example/openai/v1", exchange.ModelsQuery{Format: translate.Completions}, "", "https://p.example/openai/v1/models"},
		{"https://p.example", exchange.ModelsQuery{Format: translate.Messages}, "", "https://p.example/v1/models?limit=1000"},
		{"https://p.example/v1", exchange.ModelsQuery{Format: translate.Messages, After: "a&b"}, "", "https://p.example/v1/models?after_id=a%26b&limit=1000"},
		{"https://p.example/v1", exchange.ModelsQuery{Format: translate.Chat, After: "a"}, "10.0.0.1:80", "http://10.0.0.1:80/v1/models"},
	} {
		var got *http.Request
		tr := newTransport(answersModels(&got, http.StatusOK, "[]"), func(tr *Transport) {
			tr.secret, tr.header = "sk-provider", "X-Api-Key"
			tr.base, _ = url.Parse(test.base)
		})
		res, err := askForModels(tr, test.query, test.address)
		require.NoError(t, err)
		page, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.Equal(t, "[]", string(page))
		assert.Empty(t, res.Header, "no header of the provider's is handed on")
		assert.Equal(t, http.MethodGet, got.Method)
		assert.Equal(t, test.want, got.URL.String())
		assert.Equal(t, []string{"sk-provider"}, got.Header["X-Api-Key"])
		assert.NotContains(t, got.Header, "Authorization")
		assert.NotContains(t, got.Header, "X-Forwarded-For")
		assert.Equal(t, test.query.Format == translate.Messages, got.Header.Get("Anthropic-Version") != "")
		assert.Equal(t, test.address != "", got.Header.Get("X-Tenant") != "", "configured headers go out")
	}
}

func TestOfAnswersThatAreNoModelListNothingIsHandedOn(t *testing.T) {
	var got *http.Request
	res, err := askForModels(newTransport(answersModels(&got, http.StatusNotFound, "no such path")), exchange.ModelsQuery{Format: translate.Chat}, "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Empty(t, body)

	withKey := func(tr *Transport) { tr.secret = "sk-provider/7" }
	for name, body := range map[string]io.ReadCloser{
		"endless":            endless{},
		"with the key":       io.NopCloser(strings.NewReader(`{"data":[{"id":"sk-provider/7"}]}`)),
		"with its escapes":   io.NopCloser(strings.NewReader(`{"data":[{"id":"sk-provider\/7"}]}`)),
		"of an unknown code": io.NopCloser(bytes.NewReader([]byte("[]"))),
	} {
		inner := answers(func(*http.Request) (*http.Response, error) {
			h := make(http.Header)
			if strings.HasSuffix(name, "code") {
				h.Set("Content-Encoding", "rot13")
			}
			return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: body, Header: h}, nil
		})
		_, err := askForModels(newTransport(inner, withKey), exchange.ModelsQuery{Format: translate.Chat}, "")
		require.ErrorIs(t, err, exchange.ErrModelsUnreadable, name)
		assert.NotContains(t, err.Error(), "sk-provider", name)
	}
}
