// Package gatewaytest contains helpers for tests of the gateway: a provider behind a real
// socket, which records its requests and follows the script of a test; canary secrets; a
// Caddy in the process of the test; and a check for leaked goroutines.
//
// It promises that the ledger of a provider is complete, and that no helper sleeps to
// wait for an event: each wait ends with the event or with the context of the caller. Only
// tests import it.
package gatewaytest
