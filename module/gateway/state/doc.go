// Package state shows a running gateway to operators: whether it is ready, the state of all
// targets, the targets of a model in the order in which they are asked, the health of providers in
// the last hour, and the configuration, that is providers, models, limits, guards and labels, the
// prices in effect, and the keys outside of the store. It calls no provider but for a probe.
//
// It copies fields one by one into types of its own, whose names are words of the Caddyfile.
// A field that is not copied is not shown, so that no secret of a later version can be. Of
// API keys it shows references such as {env.NAME}. A valid address contains no credential.
package state
