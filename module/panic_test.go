package module_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func init() { caddy.RegisterModule(new(panicking)) }

// panicking is a preset of somebody else's that is broken: it panics at once,
// or, for a model of that name, in the middle of an answer.
type panicking struct{}

func (*panicking) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.providers.panicking", New: func() caddy.Module { return new(panicking) }}
}

func (*panicking) Defaults() exchange.Defaults {
	return exchange.Defaults{BaseURL: "http://panicking/v1", Formats: translate.Formats}
}

const panicText = "a panic that quotes the prompt"

func (*panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(body), `"later"`) {
		panic(panicText)
	}
	events := streams[r.URL.Path]
	begin := strings.NewReader(strings.Join(events[:len(events)-2], ""))
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: -1,
		Header: http.Header{"Content-Type": {gatewaytest.EventStream}},
		Body:   io.NopCloser(io.MultiReader(begin, panicReader{})),
	}, nil
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic(errors.New(panicText)) }

func TestAPanicIsAnErrorOfTheOneRequest(t *testing.T) {
	s := startSite(t, "provider panicking")
	want := told{status: 500, kind: "server_error", messagesKind: "api_error", message: "internal error"}
	for _, path := range callPaths {
		for _, streaming := range []bool{false, true} {
			answer := s.ask(path, bodyFor(path, "now", "hello", streaming))
			want.assert(t, path, answer)
			assert.Equal(t, "failed", s.record(answer.id())["outcome"])
		}
		answer := s.ask(path, bodyFor(path, "later", "hello", true))
		seen := answer.read(t, path)
		assert.False(t, seen.complete)
		if assert.NotNil(t, seen.failure) {
			assert.Equal(t, "internal error", seen.failure.Message)
		}
		assert.Equal(t, "cut", s.record(answer.id())["outcome"])
		assert.NotContains(t, answer.body, panicText)
	}
	assert.Contains(t, s.Logs.String(), `"msg":"panic"`, "the operator is told")
	models := s.Get(s.URL("site", "/v1/models"))
	assert.Equal(t, http.StatusUnauthorized, models.StatusCode, "the process lives")
	_ = models.Body.Close()
}
