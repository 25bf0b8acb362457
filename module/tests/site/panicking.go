package site

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func init() { caddy.RegisterModule(new(panicking)) }

// PanicText is the value of every panic of the preset "panicking".
const PanicText = "a panic that quotes the prompt"

// panicking is the broken preset of a third party. It panics at once, or, for a
// model that is named "later", in the middle of an answer.
type panicking struct{}

// CaddyModule returns the Caddy module information.
func (*panicking) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.providers.panicking", New: func() caddy.Module { return new(panicking) }}
}

// Defaults returns every format, at an address that is never called.
func (*panicking) Defaults() aigateway.Defaults {
	return aigateway.Defaults{BaseURL: "http://panicking/v1", Formats: formats.Names()}
}

// RoundTrip panics, or returns an answer that does.
func (*panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(r.URL.Path+string(body), "later") {
		panic(PanicText)
	}
	events := Streams[Called(r.URL.Path)]
	begin := strings.NewReader(strings.Join(events[:len(events)-2], ""))
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: -1,
		Header: http.Header{"Content-Type": {gatewaytest.EventStream}},
		Body:   io.NopCloser(io.MultiReader(begin, panicReader{})),
	}, nil
}

type panicReader struct{}

// Read panics with an error.
func (panicReader) Read([]byte) (int, error) { panic(errors.New(PanicText)) }
