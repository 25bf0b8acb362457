// Package health records which targets fail, so that requests can go to others for a
// while. It also counts the running attempts of providers, and bounds retries.
//
// A target rests only after failures of its provider, never after a request that the
// provider blames. After every rest, a single request is the probe that ends the rest or
// begins a longer one. The memory is bounded. The package does not choose targets: its
// callers order them, and may ask a target that rests.
package health

import "time"

// ID identifies a target, which fails and recovers: a model of a provider, asked with one of
// the provider's API keys. An ID without a model is the API key for all models.
type ID struct {
	Provider string // identity of the service, which several provider names may share
	Key      string // reference to the API key, "" for none
	Model    string // the provider's own name
}

// key returns the target that represents the API key of t.
func (t ID) key() ID { return ID{Provider: t.Provider, Key: t.Key} }

// levels returns the targets whose rest makes t rest: t itself, and its API key.
func (t ID) levels() [2]ID { return [2]ID{t, t.key()} }

// Rules are when a target rests, and for how long.
type Rules struct {
	First    time.Duration // length of the first rest; 0 or less: the target never rests
	FailRate int           // percentage of failed calls that begins a rest; 0 or less for none
}

// The rules of all rests.
const (
	failuresToRest = 5 // consecutive failures within failureWindow, or failures within rateWindow, that begin a rest
	failureWindow  = 10 * time.Second
	rateWindow     = time.Minute      // in which calls are counted for Rules.FailRate
	longestRest    = 10 * time.Minute // also if the Retry-After of a provider is longer
	probePatience  = 30 * time.Second // after it, another request may be the probe
	forgetAfter    = longestRest      // after the last failure and the last rest

	// DefaultRest is the default length of the first rest of a target. Each rest after a
	// failed probe is twice as long as the one before.
	DefaultRest = 30 * time.Second

	// DefaultFailRate is the default of Rules.FailRate.
	DefaultFailRate = 40

	maxRemembered = 4096 // targets; clients may use any number of model names of some providers
)
