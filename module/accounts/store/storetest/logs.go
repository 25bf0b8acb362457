package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// Observed opens a store, and returns its log.
func Observed(t testing.TB, backend database.Backend) (*store.Store, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.DebugLevel)
	return OpenLogged(t, backend, zap.New(core)), logs
}

// Logged waits for a log message, and returns its error.
func Logged(t testing.TB, logs *observer.ObservedLogs, message string) string {
	t.Helper()
	matching := func() []observer.LoggedEntry { return logs.FilterMessageSnippet(message).All() }
	require.Eventually(t, func() bool { return len(matching()) > 0 }, patience, tick, "%s: %v", message, logs.All())
	reason, _ := matching()[0].ContextMap()["error"].(string)
	return reason
}
