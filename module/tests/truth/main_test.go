// Package truth_test compares the ledger with an independent truth: providers that note what
// they claim to have used, for each call, and a computation of costs that shares no code
// with the gateway.
package truth_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestMain(m *testing.M) { site.Main(m) }
