// Package health remembers which targets fail, so that requests can go to others for a
// while, and counts what runs at providers.
//
// It promises that a target rests only for failures of its provider and never for a
// request that the provider blames, that every rest ends and begins with a single
// request as a probe, and that its memory is bounded. It refuses to choose: callers
// order targets, and may ask one that rests.
package health

import "time"

// Target is what fails and recovers by itself: a model of a provider, asked with one of
// the provider's API keys. A Target without a model is the key, whatever the model.
type Target struct {
	Provider string // identity of the service, which names may share
	Key      string // reference to the API key, "" for none
	Model    string // the provider's own name
}

// key returns the target under which the API key of t is remembered.
func (t Target) key() Target { return Target{Provider: t.Provider, Key: t.Key} }

// levels returns what may rest when t is asked: the model, and the API key.
func (t Target) levels() [2]Target { return [2]Target{t, t.key()} }

// The laws of rests.
const (
	failuresToRest = 5                // in a row, within failureWindow
	failureWindow  = 10 * time.Second //
	longestRest    = 10 * time.Minute // by growth, and of a provider's retry-after
	probePatience  = 30 * time.Second // after which another request may be the probe
	forgetAfter    = longestRest      // behind the last failure and the last rest

	// DefaultRest is the first rest of a target; each one after a failed probe is
	// twice as long.
	DefaultRest = 30 * time.Second

	maxRemembered = 4096 // targets: clients may name any model of some providers
)
