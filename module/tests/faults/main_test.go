// Package faults_test holds the fault matrix: what each client gets, and what is
// written down, when a provider fails in any of the ways of faults_test.go; and the exact
// answers to bad bodies, headers and connections, none of which reaches a provider.
package faults_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestMain(m *testing.M) { site.Main(m) }
