// Package jwt is a key source whose keys are signed tokens of an issuer: those of employees, of
// a build system, or of workloads in Kubernetes. Nobody has to keep a secret for them.
//
// It promises that a token is accepted only from the configured issuer, for the configured
// audience, with a signature of a key that the issuer publishes, and within its time; that
// tokens of one subject are one key, for limits and the ledger; and that the keys of the issuer
// are read rarely, within bounds, and stay in effect while the issuer cannot be reached.
//
// It refuses symmetric algorithms and "none", keys of the issuer that are too short, tokens
// without an expiry, and subjects that no group of the configuration admits.
package jwt
