package accounts

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// crowded is a store for which too many wait already.
type crowded struct{ exchange.Store }

func (crowded) CreateSession(context.Context, *exchange.Session, int, func(*exchange.User) error) error {
	return exchange.ErrBusy
}

// Many changes at once passed for an outage of the store: the answer and the
// log said so, and had whoever runs it look for one.
func TestManyChangesAtOnceAreNoOutage(t *testing.T) {
	s := loginSite(t, nil)
	s.store = crowded{s.store}
	answer := s.ask(asked{call: loginPath, body: credentials("alice", password)})
	assert.Equal(t, http.StatusServiceUnavailable, answer.status)
	assert.Equal(t, "1", answer.header.Get("Retry-After"))
	assert.Equal(t, failure("too many changes at once, try again"), answer.body)
	for _, entry := range s.logs.All() {
		assert.Less(t, entry.Level, zapcore.ErrorLevel, entry.Message)
	}
}
