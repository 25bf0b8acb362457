// Package doctor_test holds the doctor against providers with the quirks that it knows: it
// names the line of the configuration that mends a failure, and with that line it finds
// none.
package doctor_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestMain(m *testing.M) { site.Main(m) }
