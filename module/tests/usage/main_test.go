package usage_test

import (
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/metrics" // the endpoint /metrics

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestMain(m *testing.M) { site.Main(m) }
