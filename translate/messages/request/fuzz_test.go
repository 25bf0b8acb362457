package request_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// Counting does not require max_tokens, so more inputs are accepted.
func FuzzInspect(f *testing.F) {
	bodies := []string{turn(`{"role":"assistant","content":[` + selfSigned + `,` + text + `,` + selfSigned + `]}`)}
	for _, tt := range accepted {
		bodies = append(bodies, tt.body)
	}
	for _, tt := range refused {
		bodies = append(bodies, tt.body)
	}
	translatetest.Requests{Inspect: request.Inspect, Operation: translate.CountTokens}.Fuzz(f, bodies)
}
