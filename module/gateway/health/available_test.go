package health_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
)

// A target whose rest is over was shown as available until its next failure, so that a
// provider that was down all day looked well every ten minutes.
func TestATargetIsDownUntilItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		assert.False(t, m.IsDown(target))
		repeat(4, &m, target, health.Failed)
		assert.False(t, m.IsDown(target), "a few failures are no rest")
		attempt(&m, target, health.Failed)
		assert.True(t, m.IsDown(target))
		assert.False(t, m.IsDown(sibling))
		time.Sleep(health.DefaultRest + time.Second)
		assert.Zero(t, rest(&m, target))
		assert.True(t, m.IsDown(target), "its probe has not come yet")
		attempt(&m, target, health.Healthy)
		assert.False(t, m.IsDown(target))
		attempt(&m, target, health.CredentialRefused)
		assert.True(t, m.IsDown(sibling), "the key is refused for all models")
		assert.False(t, m.IsDown(otherKey))
	})
}

func TestAllModelsAreDownIfNoneHasAnsweredSinceOneFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		all := func() bool { return m.AllDown("p", "{env.A}") }
		assert.False(t, all(), "of a new provider nothing is known")
		repeat(5, &m, target, health.Failed)
		assert.True(t, all(), "no other model was asked")
		assert.False(t, m.AllDown("p", "{env.B}"))
		attempt(&m, sibling, health.Healthy)
		assert.False(t, all())
		repeat(5, &m, sibling, health.Failed)
		assert.True(t, all())
		attempt(&m, target, health.Healthy)
		assert.False(t, all())
		attempt(&m, sibling, health.Healthy)
		repeat(5, &m, target, health.Failed)
		assert.True(t, all(), "what was answered before is no proof")
	})
}
