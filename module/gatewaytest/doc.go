// Package gatewaytest holds what tests of the gateway share: a provider behind
// a real socket that keeps a ledger and misbehaves on order, canary secrets
// with a search for them, Caddy in the process of the test, and a leak check.
//
// It promises that the ledger is complete and that nothing here waits by
// sleeping: every wait ends with an event or with the caller's context. It is
// imported by tests alone.
package gatewaytest
