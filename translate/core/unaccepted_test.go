package core

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// The effort of every request was looked for in the whole body: 100 KB took a sixth longer, also where
// the model takes sampling fields beside any effort. A source without rows cannot read an option.
func TestABodyIsReadOnlyForModelsThatRefuseSomething(t *testing.T) {
	for _, sampling := range []trait.Sampling{0, trait.SamplingAll} {
		assert.NotPanics(t, func() {
			accepted := new(Source).Unaccepted([]byte(`{}`), new(translate.View), &trait.Traits{Sampling: sampling})
			assert.True(t, accepted.Empty())
		})
	}
	for _, sampling := range []trait.Sampling{trait.SamplingOne, trait.SamplingWithoutEffort, trait.SamplingEffortNone, trait.SamplingNone} {
		assert.Panics(t, func() { new(Source).Unaccepted([]byte(`{}`), new(translate.View), &trait.Traits{Sampling: sampling}) })
	}
}
