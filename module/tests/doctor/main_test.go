// Package doctor_test tests the doctor with providers that have known quirks. The doctor
// must name the line of the configuration that fixes a failure, and must find no failure
// with that line.
package doctor_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestMain(m *testing.M) { site.Main(m) }
