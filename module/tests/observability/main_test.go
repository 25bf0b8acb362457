package observability_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"

	// The option events, and the endpoint /metrics.
	_ "github.com/caddyserver/caddy/v2/modules/caddyevents/eventsconfig"
	_ "github.com/caddyserver/caddy/v2/modules/metrics"
)

// spans are where Caddy's tracing puts spans if OTEL_TRACES_EXPORTER is "memory".
var spans = tracetest.NewInMemoryExporter()

// kept keeps its spans when the last configuration with traces ends.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

func TestMain(m *testing.M) {
	autoexport.RegisterSpanExporter("memory", func(context.Context) (sdktrace.SpanExporter, error) { return kept{spans}, nil })
	site.Main(m)
}
