// Package guardrails shows the texts of requests and answers to guards, and puts changed texts
// back.
//
// It promises that no text of a request reaches a provider, and no text of an answer the
// client, before all guards of the exchange have passed it; that a stream that is blocked never
// looks finished; and that an exchange without guards costs nothing. Faults, logs and metrics
// name guards and rules, and contain no text.
package guardrails
