package gateway

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
)

// recovering is a store whose outage ends when it has been asked about it.
type recovering struct {
	aigateway.Store
	outage error
}

func (s *recovering) Degraded() error {
	outage := s.outage
	s.outage = nil
	return outage
}

// An outage that ended between two questions was a part without a reason, and its reader failed.
func TestEachDegradedPartHasAReason(t *testing.T) {
	away := errors.New("away")
	h := &handler{resolved: &resolved{limits: new(limits.Limits)}, backends: &backends.Set{Store: &recovering{outage: away}}}
	assert.Equal(t, map[string]error{partStore: away}, degraded(h))
	assert.Empty(t, degraded(h))
}
