package request_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

func FuzzInspect(f *testing.F) {
	translatetest.Requests{Inspect: request.Inspect, Operation: translate.Generate, StreamOptions: true}.Fuzz(f, bodies())
}

// bodies returns the bodies of the tables.
func bodies() (all []string) {
	for _, tt := range accepted {
		all = append(all, tt.body)
	}
	for _, tt := range refused {
		all = append(all, tt.body)
	}
	return all
}
