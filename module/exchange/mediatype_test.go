package exchange_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func TestTypesAreReadWithoutTheirCaseAndParameters(t *testing.T) {
	for contentType, want := range map[string]struct{ json, stream bool }{
		"application/json": {json: true}, "Application/JSON ; charset=utf-8": {json: true}, "application/problem+json": {json: true},
		"text/event-stream": {stream: true}, "Text/Event-Stream;charset": {stream: true},
		"": {}, "text/json": {}, "application/jsonl": {}, "application/json, text/plain": {}, "text/event-stream, text/plain": {},
		"application/json/+json": {}, "application/x(y)+json": {}, `application/json@"+json`: {}, "text/event-streams": {},
	} {
		assert.Equal(t, want.json, exchange.IsJSON(contentType), contentType)
		assert.Equal(t, want.stream, exchange.IsEventStream(contentType), contentType)
	}
}
