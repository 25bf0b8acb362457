package core

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// The effort of every request was looked for in the whole body: 100 KB took a sixth longer, also where
// the model takes sampling fields beside any effort. A source without rows cannot read an option.
func TestABodyIsReadOnlyForModelsThatRefuseSomething(t *testing.T) {
	for _, sampling := range []trait.Sampling{0, trait.SamplingAll} {
		assert.NotPanics(t, func() {
			assert.Nil(t, new(Source).Unaccepted([]byte(`{}`), &trait.Traits{Sampling: sampling}))
		})
	}
	for _, sampling := range []trait.Sampling{trait.SamplingOne, trait.SamplingWithoutEffort, trait.SamplingEffortNone, trait.SamplingNone} {
		assert.Panics(t, func() { new(Source).Unaccepted([]byte(`{}`), &trait.Traits{Sampling: sampling}) })
	}
}
